// Measures each stage with 8 and with 16 bits per sample on a CUDA device, by events. Prints a Markdown
// table: microseconds, and the ratio of 16 to 8 bits. Calls use several sets of buffers in turn, so that none
// is in the cache. hist of 16 bits is also measured with each of its methods (kernels/hist/hist.h), and
// resize by Pillow's filters with three planes.
//
//   stages16_bench [WIDTHxHEIGHT]   default: 8773x5352
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include "images/error.h"
#include "images/image.h"
#include "images/synth.h"
#include "kernels/hist/hist.h"
#include "kernels/stage.h"
#include "pipeline/cuda/cuda_api.h"
#include "pipeline/cuda/device_memory.h"
#include "pipeline/stage_list.h"

namespace {

using namespace imgpipe;

constexpr int kSets = 4;
constexpr int kCalls = 24;  // per round
constexpr int kRounds = 9;

// A frame on the device, its planes one after the other.
struct DeviceFrame {
  explicit DeviceFrame(const FrameType& type) {
    frame.type = type;
    const bool mixed = type.layout == Layout::interleaved;
    const Shape plane{type.width, type.height, mixed ? type.channels() : 1, type.sample};
    const int planes = mixed ? 1 : type.channels();
    memory.reserve(static_cast<std::size_t>(planes * device_bytes(plane)));
    for (int i = 0; i < planes; ++i) {
      const std::size_t at = mixed ? 0 : plane_of_channel(type, i);
      frame.planes[at] = {static_cast<std::byte*>(memory.data()) + i * device_bytes(plane), plane,
                          device_stride_bytes(plane)};
    }
  }
  DeviceBuffer memory;
  Frame<std::byte, Device> frame{};
};

// Returns 8-bit samples unchanged. 16-bit samples are 256 times these plus noise in the lower byte, as from a
// scanner; the lower byte is 0 for constant and few-colour images, its lowest 4 bits are 0 for "12 bits".
Image make_samples(const std::string& content, const Shape& shape) {
  const std::string pattern = content == "12 bits" ? "photo" : content;
  Image narrow = synthesize(parse_pattern(pattern), {shape.width, shape.height, shape.channels}, 1);
  if (!is_wide(shape.sample)) return narrow;
  Image wide(shape);
  const auto to = wide.untyped_view().as<Sample16>();
  std::uint32_t state = 1;
  for (std::int64_t i = 0; i < shape.samples(); ++i) {
    state = state * 1664525U + 1013904223U;
    std::uint32_t below = state >> 24;
    if (content.starts_with("constant") || content.starts_with("colors")) below = 0;
    if (content == "12 bits") below &= 0xF0;
    to.data[i] = static_cast<Sample16>(std::as_const(narrow).view().data[i] * 256U + below);
  }
  return wide;
}

const Image& samples_of(const std::string& content, const Shape& shape) {
  static std::map<std::tuple<std::string, int, Sample>, Image> made;
  const auto key = std::tuple(content, shape.channels, shape.sample);
  const auto known = made.find(key);
  return known != made.end() ? known->second : made.emplace(key, make_samples(content, shape)).first->second;
}

// Returns the median time of a call in microseconds; call(i) queues work on the buffers of set i.
double median_us(const Stream& stream, const std::function<void(int)>& call) {
  const Event before;
  const Event after;
  std::vector<double> times;
  for (int round = -1; round < kRounds; ++round) {
    before.record(stream);
    for (int i = 0; i < kCalls; ++i) call(i % kSets);
    after.record(stream);
    after.wait();
    float ms = 0;
    IMGPIPE_CUDA(cudaEventElapsedTime(&ms, before.get(), after.get()));
    if (round >= 0) times.push_back(1000.0 * static_cast<double>(ms) / kCalls);
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

using Launch = std::function<CudaStatus(const StageCall<Device>&, const CudaLaunch&)>;

// Times a step on an image of `content`; `launch` replaces the stage's function. `colors`: equal planes of a
// planar image.
double time_of(const std::string& text, const std::string& content, const Shape& size, Sample sample,
               const Launch& launch = {}, int colors = 1) {
  const StageRequest step = parse_stages(text).front();
  const Stage& stage = *step.stage;
  const Layout layout = stage.ports.in.front().layout.value_or(Layout::planar);
  const bool mixed = layout == Layout::interleaved;
  const FrameType type{size.width, size.height, mixed ? 3 : colors, false, layout, sample};
  const FrameType made = output_type(stage, type, step.parameters);
  const Image& pixels = samples_of(content, {size.width, size.height, mixed ? 3 : 1, sample});
  const Stream stream;
  std::deque<DeviceFrame> in;
  std::deque<DeviceFrame> out;
  for (int i = 0; i < kSets; ++i) {
    in.emplace_back(type);
    for (std::size_t c = 0; c < (mixed ? 1 : static_cast<std::size_t>(colors)); ++c)
      copy_to_device(in.back().frame.planes[c], pixels.untyped_view(), stream);
    out.emplace_back(made);
  }
  DeviceBuffer counts;
  counts.reserve(counters(type) * sizeof(std::uint64_t));
  // The stage has a table or scratch memory, not both: either is in `work`.
  const Stage* const maker = table_maker(stage, step.parameters, Backend::cuda, sample, made.sample);
  DeviceBuffer work;
  work.reserve(static_cast<std::size_t>(table_bytes(stage, type, step.parameters) +
                                        scratch_bytes(stage, type, step.parameters) + 1));
  if (maker != nullptr && maker->ports.in.empty()) {
    const std::vector<std::byte> constant =
        make_table(*maker, {.in = {type, {}}, .parameters = step.parameters});
    IMGPIPE_CUDA(cudaMemcpy(work.data(), constant.data(), constant.size(), cudaMemcpyHostToDevice));
    IMGPIPE_CUDA(cudaStreamSynchronize(nullptr));  // the stream does not wait for copies
  }
  // A table that depends on the image is made for each image, before the stage.
  const bool makes_table = maker != nullptr && !maker->ports.in.empty();
  const CudaLaunch on{stream.get(), find_cuda_device(0).multiprocessors};
  const auto call_of = [&](int i) {
    StageCall<Device> call;
    call.in = in[static_cast<std::size_t>(i)].frame;
    call.out = out[static_cast<std::size_t>(i)].frame;
    call.parameters = step.parameters;
    call.histogram = histogram_view<Device>(static_cast<std::uint64_t*>(counts.data()), type);
    call.table.data = call.scratch = static_cast<std::byte*>(work.data());
    return call;
  };
  const auto run = [&](const Stage& one, int i, const Launch& other) {
    const CudaStatus status = other ? other(call_of(i), on) : run_cuda(one, call_of(i), on);
    IMGPIPE_CUDA(static_cast<cudaError_t>(status));
  };
  if (reads_counts(stage, step.parameters)) run(*find_stage("hist"), 0, {});
  return median_us(stream, [&](int i) {
    if (makes_table) run(*maker, i, {});
    run(stage, i, launch);
  });
}

void print_row(const std::string& text, const std::string& content, double narrow, double wide) {
  std::printf("| %s | %s | %.1f | %.1f | %.2f |\n", text.c_str(), content.c_str(), narrow, wide,
              wide / narrow);
  std::fflush(stdout);
}

std::vector<std::pair<std::string, Launch>> hist16_methods() {
  std::vector<std::pair<std::string, Launch>> all;
  const auto add = [&](const std::string& name, const Hist16Strategy& method) {
    all.emplace_back(name, [method](const StageCall<Device>& call, const CudaLaunch& on) {
      return hist16_strategy_cuda(call, on, method);
    });
  };
  add("one block", {});
  add("halves", {.parts = 2});
  add("clusters", {.clusters = true});
  return all;
}

void run_all(const Shape& size) {
  std::printf("| %ldx%ld | content | 8 bits, us | 16 bits, us | 16 / 8 |\n|---|---|--:|--:|--:|\n",
              static_cast<long>(size.width), static_cast<long>(size.height));
  const std::string half = "resize:" + std::to_string(size.width / 2) + ":" + std::to_string(size.height / 2);
  for (const std::string& text :
       {std::string("gray"), std::string("contrast"), std::string("smooth"), std::string("smooth:triangle"),
        std::string("smooth:gauss"), std::string("threshold:100"), std::string("threshold"),
        std::string("invert"), std::string("gamma:2.2"), std::string("equalize"), std::string("clahe"),
        std::string("flip"), std::string("flip:vertical"), std::string("rotate:90"),
        std::string("rotate:180"), std::string("median"), std::string("sobel"), half, half + ":area"}) {
    print_row(text, "photo", time_of(text, "photo", size, Sample::u8),
              time_of(text, "photo", size, Sample::u16));
  }
  for (const char* filter : {"box", "bilinear", "bicubic", "lanczos"}) {
    for (const char* out : {"224:224", "1024:1024"}) {
      const std::string text = std::string("resize:") + out + ":" + filter;
      print_row(text + ", RGB", "photo", time_of(text, "photo", size, Sample::u8, {}, 3),
                time_of(text, "photo", size, Sample::u16, {}, 3));
    }
  }
  for (const char* content : {"photo", "noise", "12 bits", "constant:77", "colors:2", "colors:5"}) {
    const double narrow = time_of("hist", content, size, Sample::u8);
    print_row("hist", content, narrow, time_of("hist", content, size, Sample::u16));
    for (const auto& [name, launch] : hist16_methods())
      print_row("hist, " + name, content, narrow, time_of("hist", content, size, Sample::u16, launch));
  }
  for (const char* content : {"noise", "12 bits"}) {
    print_row("equalize", content, time_of("equalize", content, size, Sample::u8),
              time_of("equalize", content, size, Sample::u16));
    print_row("gamma:2.2", content, time_of("gamma:2.2", content, size, Sample::u8),
              time_of("gamma:2.2", content, size, Sample::u16));
    for (const char* text : {"threshold", "clahe"}) {
      print_row(text, content, time_of(text, content, size, Sample::u8),
                time_of(text, content, size, Sample::u16));
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  Shape size{8773, 5352, 1};
  if (count > 1) {
    char* end = nullptr;
    size.width = std::strtol(arguments[1], &end, 10);
    size.height = *end == 'x' ? std::strtol(end + 1, nullptr, 10) : 0;
  }
  if (size.width < 1 || size.height < 1) {
    std::fprintf(stderr, "stages16_bench [WIDTHxHEIGHT]\n");
    return 2;
  }
  try {
    run_all(size);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
