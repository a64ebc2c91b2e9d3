// Measures by events how fast a CUDA device makes PNG strips (kernels/png/encoding.h): groups of images on
// several streams at once, and each step alone.
//
//   cuda_png_bench [--images N] [--rounds R] [--channels C] [--raw WIDTH HEIGHT] FILE...
//
// A group has N images, taken from the files in turn. Files are converted to grey, except with --channels 3;
// with --raw they are rows of samples without a header.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/image.h"
#include "kernels/png/encoding.h"
#include "kernels/png/steps.h"
#include "pipeline/cuda/cuda_api.h"

namespace {

using namespace imgpipe;

struct Options {
  int images = 8;
  int rounds = 20;
  int channels = 1;
  std::int64_t raw_width = 0, raw_height = 0;
  std::vector<std::string> files;
};

std::vector<std::byte> bytes_of(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::byte> out(bytes.size());
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

// Returns the image in grey, smoothed by 3x3 means, similar to the result of gray and smooth.
Image smooth_grey(const Image& from) {
  const Shape shape = from.shape();
  Image grey({shape.width, shape.height, 1});
  std::vector<int> sums(static_cast<std::size_t>(shape.width));
  const auto value = [&](std::int64_t x, std::int64_t y) {
    const Sample8* p = from.view().row(std::clamp<std::int64_t>(y, 0, shape.height - 1)) +
                       std::clamp<std::int64_t>(x, 0, shape.width - 1) * shape.channels;
    return shape.channels < 3 ? int{p[0]} : (77 * p[0] + 150 * p[1] + 29 * p[2] + 128) >> 8;
  };
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x)
      sums[static_cast<std::size_t>(x)] = value(x, y - 1) + value(x, y) + value(x, y + 1);
    const auto sum = [&](std::int64_t x) {
      return sums[static_cast<std::size_t>(std::clamp<std::int64_t>(x, 0, shape.width - 1))];
    };
    for (std::int64_t x = 0; x < shape.width; ++x)
      grey.view().row(y)[x] = static_cast<Sample8>((sum(x - 1) + sum(x) + sum(x + 1) + 4) / 9);
  }
  return grey;
}

Image read_image(const std::string& name, const Options& options) {
  const std::vector<std::byte> bytes = bytes_of(name);
  if (options.raw_width > 0) {
    Image image({options.raw_width, options.raw_height, options.channels});
    for (std::int64_t y = 0; y < options.raw_height; ++y)
      std::memcpy(image.view().row(y), bytes.data() + y * image.shape().row_bytes(),
                  static_cast<std::size_t>(image.shape().row_bytes()));
    return image;
  }
  const auto reader = open_reader(bytes);
  Image image(reader->header().shape);
  reader->read_rows(image.view());
  return options.channels == 1 ? smooth_grey(image) : std::move(image);
}

class Lane {
 public:
  Lane(const std::vector<Image>& images, const Options& options) {
    std::vector<PngEncodingTask> tasks;
    for (int i = 0; i < options.images; ++i) {
      const Image& image = images[static_cast<std::size_t>(i) % images.size()];
      const Shape shape = image.shape();
      const std::int64_t stride = (shape.width + 15) / 16 * 16 * shape.channels;
      planes_.push_back(std::make_unique<DeviceBuffer>());
      planes_.back()->reserve(static_cast<std::size_t>(stride * shape.height));
      IMGPIPE_CUDA(cudaMemcpy2D(planes_.back()->data(), static_cast<std::size_t>(stride), image.view().data,
                                static_cast<std::size_t>(image.view().stride),
                                static_cast<std::size_t>(shape.row_bytes()),
                                static_cast<std::size_t>(shape.height), cudaMemcpyHostToDevice));
      tasks.push_back({{static_cast<const Sample8*>(planes_.back()->data()), shape.width, shape.height,
                        stride, shape.channels},
                       make_writer(Format::png, shape)->strip_rows()});
      pixels += static_cast<double>(shape.pixels());
    }
    encoding = std::make_unique<PngEncoding>(tasks);
    std::vector<std::byte> upload(encoding->memory().upload_bytes);
    encoding->write_upload(upload.data());
    memory_.reserve(encoding->memory().bytes);
    IMGPIPE_CUDA(cudaMemcpy(memory(), upload.data(), upload.size(), cudaMemcpyHostToDevice));
    IMGPIPE_CUDA(cudaStreamSynchronize(nullptr));  // the stream does not wait for copies
    results.resize(encoding->memory().results_bytes);
  }
  [[nodiscard]] std::byte* memory() { return static_cast<std::byte*>(memory_.data()); }
  void launch() { IMGPIPE_CUDA(static_cast<cudaError_t>(encoding->launch(memory(), {stream.get(), 132}))); }
  void describe(int images) {
    IMGPIPE_CUDA(cudaMemcpy(results.data(), memory() + encoding->memory().results_offset, results.size(),
                            cudaMemcpyDeviceToHost));
    double bytes = 0;
    std::size_t strips = 0;
    std::size_t filtered = 0;
    for (int i = 0; i < images; ++i) {
      for (const auto& strip : encoding->strips(static_cast<std::size_t>(i), results.data())) {
        bytes += static_cast<double>(strip.bytes);
        ++strips;
        filtered += strip.filtered ? 1 : 0;
      }
    }
    std::printf("%d images, %.1f MP, %.3f bytes a pixel, %zu strips, %zu filtered, %.1f MB of memory\n",
                images, pixels / 1e6, bytes / pixels, strips, filtered,
                static_cast<double>(encoding->memory().bytes) / 1e6);
  }

  Stream stream;
  std::unique_ptr<PngEncoding> encoding;
  std::vector<std::byte> results;
  double pixels = 0;

 private:
  std::vector<std::unique_ptr<DeviceBuffer>> planes_;
  DeviceBuffer memory_;
};

class TimedEvent {
 public:
  TimedEvent() { IMGPIPE_CUDA(cudaEventCreate(&event_)); }
  ~TimedEvent() { cudaEventDestroy(event_); }
  TimedEvent(const TimedEvent&) = delete;
  TimedEvent& operator=(const TimedEvent&) = delete;
  void record(cudaStream_t stream) { IMGPIPE_CUDA(cudaEventRecord(event_, stream)); }
  [[nodiscard]] cudaEvent_t get() const { return event_; }
  [[nodiscard]] double ms_since(const TimedEvent& start) const {
    float ms = 0;
    IMGPIPE_CUDA(cudaEventElapsedTime(&ms, start.event_, event_));
    return ms;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void measure_steps(Lane& lane, int rounds) {
  constexpr const char* kNames[] = {"choose_filters", "write_filtered", "plan_strips",
                                    "find_repeats",   "place_strips",   "pack_strips"};
  const png_strips::Group group = lane.encoding->group(lane.memory());
  std::vector<std::vector<double>> times(6);
  for (int round = 0; round < rounds; ++round) {
    TimedEvent marks[7];
    std::size_t i = 0;
    // As in PngEncoding::launch().
    IMGPIPE_CUDA(cudaMemsetAsync(
        group.sums, 0, static_cast<std::size_t>(group.types - reinterpret_cast<std::uint8_t*>(group.sums)),
        lane.stream.get()));
    marks[0].record(lane.stream.get());
    for (const auto step : {png_strips::choose_filters, png_strips::write_filtered, png_strips::plan_strips,
                            png_strips::find_repeats, png_strips::place_strips, png_strips::pack_strips}) {
      IMGPIPE_CUDA(static_cast<cudaError_t>(step(group, lane.stream.get())));
      marks[++i].record(lane.stream.get());
    }
    IMGPIPE_CUDA(cudaStreamSynchronize(lane.stream.get()));
    for (std::size_t s = 0; s < 6; ++s) times[s].push_back(marks[s + 1].ms_since(marks[s]));
  }
  for (std::size_t s = 0; s < 6; ++s) std::printf("  %-15s %7.1f us\n", kNames[s], median(times[s]) * 1e3);
}

void measure(std::vector<std::unique_ptr<Lane>>& lanes, std::size_t streams, int rounds) {
  constexpr int kGroups = 8;  // per stream and round
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    TimedEvent start, end;
    start.record(lanes[0]->stream.get());
    for (std::size_t i = 1; i < streams; ++i)
      IMGPIPE_CUDA(cudaStreamWaitEvent(lanes[i]->stream.get(), start.get(), 0));
    for (int g = 0; g < kGroups; ++g) {
      for (std::size_t i = 0; i < streams; ++i) lanes[i]->launch();
    }
    std::vector<std::unique_ptr<TimedEvent>> ends;
    for (std::size_t i = 1; i < streams; ++i) {
      ends.push_back(std::make_unique<TimedEvent>());
      ends.back()->record(lanes[i]->stream.get());
      IMGPIPE_CUDA(cudaStreamWaitEvent(lanes[0]->stream.get(), ends.back()->get(), 0));
    }
    end.record(lanes[0]->stream.get());
    IMGPIPE_CUDA(cudaStreamSynchronize(lanes[0]->stream.get()));
    times.push_back(end.ms_since(start));
  }
  const double groups = static_cast<double>(streams) * kGroups;
  std::printf("  %zu streams: %7.1f us a group, %6.1f GP/s\n", streams, median(times) * 1e3 / groups,
              lanes[0]->pixels * groups / median(times) / 1e6);
}

int run(const Options& options) {
  std::vector<Image> images;
  for (const std::string& file : options.files) images.push_back(read_image(file, options));
  std::vector<std::unique_ptr<Lane>> lanes;
  for (int i = 0; i < 4; ++i) lanes.push_back(std::make_unique<Lane>(images, options));
  for (const auto& lane : lanes) lane->launch();
  IMGPIPE_CUDA(cudaDeviceSynchronize());
  lanes[0]->describe(options.images);
  measure_steps(*lanes[0], options.rounds);
  for (std::size_t streams = 1; streams <= lanes.size(); ++streams) measure(lanes, streams, options.rounds);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  try {
    for (int i = 1; i < argc; ++i) {
      const auto is = [&](const char* name, int values) {
        return std::strcmp(argv[i], name) == 0 && i + values < argc;
      };
      if (is("--images", 1)) {
        options.images = std::max(1, std::atoi(argv[++i]));
      } else if (is("--rounds", 1)) {
        options.rounds = std::max(1, std::atoi(argv[++i]));
      } else if (is("--channels", 1)) {
        options.channels = std::atoi(argv[++i]);
      } else if (is("--raw", 2)) {
        options.raw_width = std::atoll(argv[++i]);
        options.raw_height = std::atoll(argv[++i]);
      } else {
        options.files.emplace_back(argv[i]);
      }
    }
    if (options.files.empty()) throw Error(ErrorKind::usage, "no files");
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cuda_png_bench: %s\n", error.what());
    return 1;
  }
}
