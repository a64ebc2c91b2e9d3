// Measures the PNG writer on one thread, through its interface: its speed and the size of its files.
//
//   png_bench [--level N] [--rounds R] IMAGE...
//
// Prints one line per image: name, bytes of samples, bytes of the file, and the least and the median
// nanoseconds per byte of samples. To compare two builds, run them alternately.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "images/codecs/codec.h"
#include "images/error.h"

namespace {

using namespace imgpipe;
using Clock = std::chrono::steady_clock;

Image read_image(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  const auto reader = open_reader(std::as_bytes(std::span(bytes)));
  Image image(reader->header().shape);
  reader->read_rows(image.view());
  return image;
}

std::size_t encode(ConstHostPlane image, const EncodeOptions& options) {
  const auto writer = make_writer(Format::png, image.shape(), options);
  const std::int64_t strip = writer->strip_rows();
  for (std::int64_t y = 0; y < image.height; y += strip)
    writer->write_strip(y, image.rows(y, std::min(strip, image.height - y)));
  return writer->finish().size_bytes();
}

void measure(const std::string& name, int rounds, const EncodeOptions& options) {
  const Image image = read_image(name);
  const auto samples =
      static_cast<double>(image.shape().width * image.shape().channels * image.shape().height);
  const std::size_t bytes = encode(image.view(), options);
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    const auto start = Clock::now();
    (void)encode(image.view(), options);
    times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count() / samples);
  }
  std::sort(times.begin(), times.end());
  std::printf("%s %.0f %zu %.4f %.4f\n", name.c_str(), samples, bytes, times.front(),
              times[times.size() / 2]);
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 9;
  EncodeOptions options;
  try {
    for (int i = 1; i < argc; ++i) {
      if (std::strcmp(argv[i], "--level") == 0 && i + 1 < argc) {
        options.png_level = std::atoi(argv[++i]);
      } else if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
        rounds = std::max(1, std::atoi(argv[++i]));
      } else {
        measure(argv[i], rounds, options);
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "png_bench: %s\n", error.what());
    return 1;
  }
}
