// Measures each stage with 8 and with 16 bits per sample on one host thread. Prints a Markdown table: the
// least time of all calls in microseconds, and the ratio of 16 to 8 bits.
//
//   host16_bench [WIDTHxHEIGHT [PART]]   default: 2048x64, which stays in the L2 cache;
//                                        PART: only steps of the list below whose text contains it
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <limits>
#include <string>
#include <vector>

#include "images/error.h"
#include "images/image.h"
#include "images/synth.h"
#include "kernels/stage.h"
#include "pipeline/stage_list.h"

namespace {

using namespace imgpipe;
using Clock = std::chrono::steady_clock;

constexpr double kSeconds = 0.25;  // of calls per measured number
constexpr int kMinCalls = 3;

// A frame with one image per plane.
struct HostFrame {
  explicit HostFrame(const FrameType& type) {
    frame.type = type;
    const bool mixed = type.layout == Layout::interleaved;
    for (int i = 0; i < (mixed ? 1 : type.channels()); ++i) {
      planes.emplace_back(Shape{type.width, type.height, mixed ? type.channels() : 1, type.sample});
      frame.planes[static_cast<std::size_t>(i)] = planes.back().untyped_view();
    }
  }
  std::deque<Image> planes;
  Frame<std::byte, Host> frame{};
};

double min_us(const auto& call) {
  double least = std::numeric_limits<double>::max();
  const auto start = Clock::now();
  for (int i = 0; i < kMinCalls || Clock::now() - start < std::chrono::duration<double>(kSeconds); ++i) {
    const auto before = Clock::now();
    call();
    least = std::min(least, std::chrono::duration<double, std::micro>(Clock::now() - before).count());
  }
  return least;
}

double time_of(const std::string& text, const std::string& content, const Shape& size, Sample sample) {
  const StageRequest step = parse_stages(text).front();
  const Stage& stage = *step.stage;
  const Layout layout = stage.ports.in.front().layout.value_or(Layout::planar);
  const int channels = layout == Layout::interleaved ? 3 : 1;
  const FrameType type{size.width, size.height, channels, false, layout, sample};
  const Image pixels =
      synthesize(parse_pattern(content, sample), {size.width, size.height, channels, sample}, 1);
  HostFrame out(output_type(stage, type, step.parameters));
  std::vector<std::uint64_t> counts(counters(type));
  StageCall<Host> call{};
  call.in = {type, {pixels.untyped_view(), {}, {}, {}}};
  call.out = out.frame;
  call.parameters = step.parameters;
  call.histogram = histogram_view<Host>(counts.data(), type);
  const Band all{0, out.frame.type.height, 0, 0};
  if (reads_counts(stage, step.parameters)) run_cpu(*find_stage("hist"), call, {0, size.height, 0, 0});
  std::vector<std::byte> table;
  const Sample made = out.frame.type.sample;
  if (const Stage* const maker = table_maker(stage, step.parameters, Backend::cpu, sample, made))
    table = make_table(*maker, call);
  call.table = {table.data(), std::ssize(table)};
  return min_us([&] { run_cpu(stage, call, all); });
}

void run_all(const Shape& size, const std::string& wanted) {
  const std::string half = std::to_string(size.width / 2) + ':' + std::to_string(size.height / 2);
  const std::string third = std::to_string(size.width / 3) + ':' + std::to_string(size.height / 3);
  std::printf("| %ldx%ld | content | 8 bits, us | 16 bits, us | 16 / 8 |\n|---|---|--:|--:|--:|\n",
              static_cast<long>(size.width), static_cast<long>(size.height));
  for (const std::string& text : {std::string("gray"),
                                  std::string("hist"),
                                  std::string("contrast"),
                                  std::string("smooth"),
                                  std::string("smooth:triangle"),
                                  std::string("smooth:gauss"),
                                  std::string("threshold"),
                                  std::string("invert"),
                                  std::string("gamma:2.2"),
                                  "resize:" + half,
                                  "resize:" + third,
                                  "resize:" + third + ":area",
                                  std::string("equalize"),
                                  std::string("median:3"),
                                  std::string("median:5"),
                                  std::string("sobel"),
                                  std::string("box:5"),
                                  std::string("gauss:2"),
                                  std::string("sharpen"),
                                  std::string("flip"),
                                  std::string("rotate:90")}) {
    if (text.find(wanted) == std::string::npos) continue;
    for (const char* content : {"photo", "noise"}) {
      const double narrow = time_of(text, content, size, Sample::u8);
      const double wide = time_of(text, content, size, Sample::u16);
      std::printf("| %s | %s | %.1f | %.1f | %.2f |\n", text.c_str(), content, narrow, wide, wide / narrow);
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  Shape size{2048, 64, 1};
  if (count > 1) {
    char* end = nullptr;
    size.width = std::strtol(arguments[1], &end, 10);
    size.height = *end == 'x' ? std::strtol(end + 1, nullptr, 10) : 0;
  }
  if (size.width < 3 || size.height < 3) {
    std::fprintf(stderr, "host16_bench [WIDTHxHEIGHT [PART OF A STAGE'S NAME]], from 3x3\n");
    return 2;
  }
  try {
    run_all(size, count > 2 ? arguments[2] : "");
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
