// Measures JPEG encoding alone on a CUDA device: groups of pixels in device memory to scans in device memory,
// several groups at a time on one stream each.
//
//   jpeg_encoding_bench [--quality 90] [--images 8] [--groups 40] [--check] [--size 3264x2448] [FILE...]
//
// Without files, it uses one synthetic photograph of that size. Prints one line per file, kind of pixels and
// number of streams: gigapixels per second, by events around `--groups` groups, the best of three rounds
// after a warm-up. --check compares an image's bytes with libjpeg-turbo's.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/image.h"
#include "images/synth.h"
#include "kernels/jpeg/encoding.h"
#include "pipeline/cuda/device_memory.h"

namespace {

using namespace imgpipe;

struct Options {
  int quality = 90;
  int images = 8;
  int groups = 40;
  bool check = false;
  Shape shape{3264, 2448, 3};
  std::vector<std::string> files;
};

Image read_image(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> text((std::istreambuf_iterator<char>(in)), {});
  const auto reader = open_reader(std::as_bytes(std::span(text)));
  Image image(reader->header().shape);
  reader->read_rows(image.untyped_view());
  return image;
}

Image grey_of(const Image& image) {
  Image grey({image.shape().width, image.shape().height, 1});
  const int channels = image.shape().channels;
  for (std::int64_t y = 0; y < grey.shape().height; ++y) {
    const Sample8* from = image.view().row(y);
    for (std::int64_t x = 0; x < grey.shape().width; ++x, from += channels) {
      grey.view().row(y)[x] = static_cast<Sample8>(
          channels == 1 ? from[0] : (19595 * from[0] + 38470 * from[1] + 7471 * from[2] + 32768) >> 16);
    }
  }
  return grey;
}

struct Lane {
  Stream stream;
  Event done;
  std::vector<std::unique_ptr<DeviceBuffer>> pixels;
  std::unique_ptr<JpegEncoding> encoding;
  DeviceBuffer memory;

  Lane(const Image& image, const Options& options, bool halved) {
    std::vector<JpegEncodingTask> tasks;
    for (int i = 0; i < options.images; ++i) {
      pixels.push_back(std::make_unique<DeviceBuffer>());
      pixels.back()->reserve(static_cast<std::size_t>(device_bytes(image.shape())));
      const DeviceView view(static_cast<std::byte*>(pixels.back()->data()), image.shape(),
                            device_stride_bytes(image.shape()));
      copy_to_device(view, image.untyped_view(), stream);
      tasks.push_back({view.as<Sample8>(), options.quality, halved});
    }
    encoding = std::make_unique<JpegEncoding>(tasks);
    memory.reserve(encoding->memory().bytes);
    std::vector<std::byte> upload(encoding->memory().upload_bytes);
    encoding->write_upload(upload.data());
    IMGPIPE_CUDA(
        cudaMemcpyAsync(memory.data(), upload.data(), upload.size(), cudaMemcpyHostToDevice, stream.get()));
    IMGPIPE_CUDA(cudaStreamSynchronize(stream.get()));
  }
  void launch() {
    IMGPIPE_CUDA(static_cast<cudaError_t>(
        encoding->launch(static_cast<std::byte*>(memory.data()), {stream.get(), 132})));
  }
  std::vector<std::byte> scan(std::size_t i) {
    std::vector<std::byte> all(encoding->memory().bytes);
    IMGPIPE_CUDA(cudaMemcpy(all.data(), memory.data(), all.size(), cudaMemcpyDeviceToHost));
    const JpegEncoding::Scan at = encoding->scan(i, all.data() + encoding->memory().results_offset);
    return {all.begin() + static_cast<std::ptrdiff_t>(at.offset),
            all.begin() + static_cast<std::ptrdiff_t>(at.offset + at.bytes)};
  }
};

double milliseconds(std::vector<std::unique_ptr<Lane>>& lanes, int groups) {
  const Event first, last;
  Lane& leader = *lanes.front();
  first.record(leader.stream);
  for (const auto& lane : lanes) IMGPIPE_CUDA(cudaStreamWaitEvent(lane->stream.get(), first.get(), 0));
  for (int i = 0; i < groups; ++i) lanes[static_cast<std::size_t>(i) % lanes.size()]->launch();
  for (const auto& lane : lanes) {
    lane->done.record(lane->stream);
    IMGPIPE_CUDA(cudaStreamWaitEvent(leader.stream.get(), lane->done.get(), 0));
  }
  last.record(leader.stream);
  last.wait();
  float elapsed = 0;
  IMGPIPE_CUDA(cudaEventElapsedTime(&elapsed, first.get(), last.get()));
  return elapsed;
}

void measure(const std::string& name, const Image& image, const Options& options) {
  EncodeOptions encode;
  encode.quality = options.quality;
  const auto writer = make_writer(Format::jpeg, image.shape(), encode);
  const DeviceForm form = writer->device_form();
  std::vector<std::unique_ptr<Lane>> lanes;
  for (int streams = 1; streams <= 4; ++streams) {
    lanes.push_back(std::make_unique<Lane>(image, options, form.subsampled_chroma));
    (void)milliseconds(lanes, options.groups);
    double best = 0;
    for (int round = 0; round < 3; ++round) {
      const double ms = milliseconds(lanes, options.groups);
      best = best == 0 ? ms : std::min(best, ms);
    }
    const double pixels = static_cast<double>(image.shape().pixels()) * options.images * options.groups;
    const std::size_t bytes = lanes.back()->scan(0).size();
    std::printf(
        "%-24s %s q%d, %d images, %d streams: %7.1f GP/s, %7.1f us a group, %.3f bytes a pixel, "
        "memory %.2f\n",
        name.c_str(), image.shape().channels == 1 ? "grey" : "rgb ", options.quality, options.images, streams,
        pixels / best / 1e6, best * 1e3 / options.groups,
        static_cast<double>(bytes) / static_cast<double>(image.shape().pixels()),
        static_cast<double>(lanes.back()->encoding->memory().bytes) /
            static_cast<double>(image.shape().pixels() * options.images));
  }
  if (!options.check) return;
  const auto by_rows = make_writer(Format::jpeg, image.shape(), encode);
  by_rows->write_rows(image.untyped_view());
  writer->give_scan(lanes.front()->scan(static_cast<std::size_t>(options.images) - 1));
  const bool equal = by_rows->finish().joined() == writer->finish().joined();
  std::printf("%-24s %s\n", name.c_str(), equal ? "equal to libjpeg-turbo's bytes" : "DIFFERS");
}

Options read_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    const auto number = [&] { return i + 1 < count ? std::atoi(arguments[++i]) : 1; };
    if (argument == "--quality") {
      options.quality = number();
    } else if (argument == "--images") {
      options.images = number();
    } else if (argument == "--groups") {
      options.groups = number();
    } else if (argument == "--size" && i + 1 < count) {
      char* end = arguments[++i];
      options.shape.width = std::strtol(end, &end, 10);
      options.shape.height = *end == 'x' ? std::strtol(end + 1, &end, 10) : options.shape.width;
    } else if (argument == "--check") {
      options.check = true;
    } else {
      options.files.push_back(argument);
    }
  }
  return options;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const Options options = read_options(count, arguments);
    const auto both = [&](const std::string& name, const Image& image) {
      measure(name, grey_of(image), options);
      if (image.shape().channels == 3) measure(name, image, options);
    };
    for (const std::string& file : options.files)
      both(std::filesystem::path(file).filename().string(), read_image(file));
    if (options.files.empty()) both("synthetic", synthesize(parse_pattern("photo"), options.shape, 1));
  } catch (const Error& error) {
    std::fprintf(stderr, "jpeg_encoding_bench: %s\n", error.what());
    return 1;
  }
}
