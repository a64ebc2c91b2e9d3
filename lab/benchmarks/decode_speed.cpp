// Measures JPEG decoding alone: libjpeg-turbo on one thread; the reader's default row by row, and in bands
// from several threads.
//
//   decode_speed [--rounds N] [--threads 1,2,4,8,16] [--rows 64] FILE...
//
// In every round, all methods take turns decoding the file from memory, from its first byte to its last row;
// threads are started beforehand. Prints a Markdown table: median megapixels per second, the range in
// brackets, and the median of the rounds' ratios to libjpeg-turbo.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <latch>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/image.h"

namespace {

using namespace imgpipe;
using Clock = std::chrono::steady_clock;
using File = std::vector<std::byte>;

struct Options {
  std::vector<std::string> files;
  std::vector<int> threads{1, 2, 4, 8, 16};
  std::int64_t rows = 64;
  int rounds = 7;
};

struct DecodingMethod {
  std::string name;
  CodecChoice codec = CodecChoice::automatic;
  int threads = 0;  // 0: row by row
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

DecodeOptions decode_options(CodecChoice codec) {
  DecodeOptions options;
  options.codec = codec;
  options.orient = false;
  return options;
}

double row_by_row(const File& file, const DecodingMethod& method, std::int64_t rows) {
  const Clock::time_point start = Clock::now();
  const auto reader = open_reader(file, decode_options(method.codec));
  Shape shape = reader->header().shape;
  const std::int64_t height = shape.height;
  shape.height = std::min(rows, height);
  Image band(shape);
  for (std::int64_t y = 0; y < height; y += rows)
    reader->read_rows(band.untyped_view().rows(0, std::min(rows, height - y)));
  return seconds_since(start);
}

// The bands of one image; any free thread begins and reads the next one.
class Bands {
 public:
  Bands(Reader& reader, std::int64_t rows) : reader_(reader), rows_(rows) {}

  void read_all(Image& band) {
    const std::int64_t height = reader_.header().shape.height;
    for (;;) {
      std::unique_lock lock(mutex_);
      const std::int64_t first = next_;
      const std::int64_t count = std::min(rows_, height - first);
      if (count <= 0) return;
      reader_.begin_band(first, count);
      next_ += count;
      lock.unlock();
      reader_.read_band(first, band.untyped_view().rows(0, count));
    }
  }

 private:
  Reader& reader_;
  const std::int64_t rows_;
  std::mutex mutex_;
  std::int64_t next_ = 0;
};

double in_bands(const File& file, const DecodingMethod& method, std::int64_t rows) {
  Shape shape = open_reader(file, decode_options(method.codec))->header().shape;
  shape.height = std::min(rows, shape.height);
  std::unique_ptr<Reader> reader;
  std::unique_ptr<Bands> bands;
  std::latch opened(1);
  std::latch waiting(method.threads - 1);
  std::vector<std::jthread> threads;
  for (int i = 1; i < method.threads; ++i) {
    threads.emplace_back([&] {
      Image band(shape);
      waiting.count_down();
      opened.wait();
      bands->read_all(band);
    });
  }
  Image band(shape);
  waiting.wait();
  const Clock::time_point start = Clock::now();
  reader = open_reader(file, decode_options(method.codec));
  bands = std::make_unique<Bands>(*reader, rows);
  opened.count_down();
  bands->read_all(band);
  threads.clear();
  return seconds_since(start);
}

std::vector<DecodingMethod> decoding_methods(const File& file, const std::vector<int>& threads) {
  std::vector<DecodingMethod> methods{{"libjpeg-turbo", CodecChoice::turbo}};
  if (!open_reader(file)->has_bands()) return methods;
  methods.push_back({"row by row"});
  for (const int count : threads) methods.push_back({std::to_string(count), CodecChoice::automatic, count});
  return methods;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void measure(const std::string& path, const Options& options) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto bytes = std::as_bytes(std::span(text));
  const File file(bytes.begin(), bytes.end());
  const Shape shape = open_reader(file, decode_options(CodecChoice::turbo))->header().shape;
  const std::vector<DecodingMethod> methods = decoding_methods(file, options.threads);
  std::vector<std::vector<double>> speeds(methods.size());
  for (int round = -1; round < options.rounds; ++round) {
    for (std::size_t i = 0; i < methods.size(); ++i) {
      const double seconds = methods[i].threads > 0 ? in_bands(file, methods[i], options.rows)
                                                    : row_by_row(file, methods[i], options.rows);
      if (round >= 0) speeds[i].push_back(static_cast<double>(shape.pixels()) / seconds / 1e6);
    }
  }
  std::printf("| %s, %ldx%ld, %.2f bytes a pixel |", std::filesystem::path(path).stem().string().c_str(),
              static_cast<long>(shape.width), static_cast<long>(shape.height),
              static_cast<double>(file.size()) / static_cast<double>(shape.pixels()));
  for (const std::vector<double>& each : speeds) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < each.size(); ++round)
      ratios.push_back(each[round] / speeds[0][round]);
    const auto [least, most] = std::ranges::minmax(each);
    std::printf(" %.0f (%.0f-%.0f), %.2f |", median(each), least, most, median(ratios));
  }
  std::printf("\n");
  std::fflush(stdout);
}

std::vector<int> numbers(std::string_view text) {
  std::vector<int> found;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    found.push_back(std::stoi(std::string(text.substr(at, end - at))));
    at = end + 1;
  }
  return found;
}

Options options_of(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].starts_with("--")) {
      options.files.push_back(arguments[i]);
      continue;
    }
    if (i + 1 == arguments.size()) throw Error(ErrorKind::usage, arguments[i] + " needs a value");
    const std::string& value = arguments[i + 1];
    if (arguments[i] == "--rounds") options.rounds = std::stoi(value);
    if (arguments[i] == "--threads") options.threads = numbers(value);
    if (arguments[i] == "--rows") options.rows = std::stoi(value);
    ++i;
  }
  if (options.files.empty() || options.rounds < 1 || options.rows < 1 ||
      std::ranges::min(options.threads) < 1)
    throw Error(ErrorKind::usage, "decode_speed [options] FILE...: see its source");
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = options_of({argv + 1, argv + argc});
    std::printf("| Mpixel/s, times libjpeg-turbo | libjpeg-turbo | row by row |");
    for (const int count : options.threads) std::printf(" %d thread%s |", count, count == 1 ? "" : "s");
    std::printf("\n|---|--:|--:|");
    for (std::size_t i = 0; i < options.threads.size(); ++i) std::printf("--:|");
    std::printf("\n");
    for (const std::string& file : options.files) measure(file, options);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "decode_speed: %s\n", error.what());
    return 1;
  }
}
