// Writes the reference's results for noise and every stage that accepts or makes floats, for float_oracle.py.
// Each case is a line, "STEP WIDTH HEIGHT SAMPLE OUT_WIDTH OUT_HEIGHT OUT_SAMPLE", then the input samples,
// then the output samples. Those of hist are its counts.
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "images/tensor.h"
#include "kernels/stage.h"
#include "pipeline/engine.h"
#include "tests/support/images.h"
#include "tests/support/second_images.h"

namespace imgpipe::test {
namespace {

constexpr std::array<std::string_view, 64> kSteps{"invert",
                                                  "add:0.3",
                                                  "add:grey",
                                                  "subtract:0.3",
                                                  "subtract:grey",
                                                  "multiply:1.7",
                                                  "multiply:grey",
                                                  "multiply:grey:scale=0.7",
                                                  "divide:0.3",
                                                  "divide:grey",
                                                  "divide:grey:scale=3",
                                                  "min:0.4",
                                                  "min:grey",
                                                  "max:0.4",
                                                  "max:grey",
                                                  "absdiff:0.4",
                                                  "absdiff:grey",
                                                  "mask:grey",
                                                  "gamma:2.2",
                                                  "gamma:0.454545",
                                                  "gamma:0.01",
                                                  "gamma:100",
                                                  "gamma:1.000001",
                                                  "levels:0:1",
                                                  "levels:16:235:8",
                                                  "levels:1000:40001:16",
                                                  "levels:65534:65535:16",
                                                  "levels:-0.25:1e-3",
                                                  "levels:-3e38:3.4e38",
                                                  "hist",
                                                  "hist:-0.5:1.5",
                                                  "hist:0.1:0.1000001",
                                                  "hist:-3.4e38:3.4e38",
                                                  "smooth:box:shrink",
                                                  "smooth:box:replicate",
                                                  "smooth:box:reflect",
                                                  "smooth:triangle:shrink",
                                                  "smooth:triangle:replicate",
                                                  "smooth:triangle:reflect",
                                                  "smooth:gauss:shrink",
                                                  "smooth:gauss:replicate",
                                                  "smooth:gauss:reflect",
                                                  "resize:7:9:linear",
                                                  "resize:40:3:linear",
                                                  "resize:1:1:linear",
                                                  "resize:7:9:area",
                                                  "resize:40:3:area",
                                                  "resize:1:1:area",
                                                  "resize:7:9:nearest",
                                                  "resize:40:31:nearest",
                                                  "depth:8",
                                                  "depth:16",
                                                  "depth:float",
                                                  "crop:1x1",
                                                  "crop:2x1+0+0",
                                                  "crop:5x4:pad=#336699",
                                                  "pad:70x40:#336699:left",
                                                  "pad:64x31:white",
                                                  "flip:horizontal",
                                                  "flip:vertical",
                                                  "rotate:90",
                                                  "rotate:180",
                                                  "rotate:270",
                                                  "resize:9:9:area"};
constexpr std::array<Size, 8> kSizes{{{1, 1}, {2, 1}, {1, 5}, {3, 4}, {9, 9}, {33, 2}, {17, 31}, {64, 21}}};
constexpr std::array<std::string_view, 4> kContents{"noise", "narrow", "ramp", "two_valued"};

std::string shape_text(const Shape& shape) {
  return std::to_string(shape.width) + " " + std::to_string(shape.height) + " " +
         (shape.sample == Sample::bf16 ? "b" : "") + (is_float(shape.sample) ? "f" : "u") +
         std::to_string(8 * bytes_per_sample(shape.sample));
}

void write(const ConstHostView& view) {
  std::fwrite(view.data, 1, static_cast<std::size_t>(view.bytes()), stdout);
}

void write_case(Engine& engine, std::string_view step, const Image& image) {
  Job job;
  job.plan = make_plan(steps_for(step, image.shape()), image.shape());
  if (job.plan.steps.empty()) return;  // the step would change nothing
  job.reader = make_memory_reader(image.untyped_view());
  const Outcome outcome = engine.run(std::move(job));
  if (outcome.error) std::rethrow_exception(outcome.error);
  const std::vector<std::uint64_t>& counts = outcome.histograms.front();
  const std::string made =
      counts.empty() ? shape_text(outcome.plan.output) : std::to_string(counts.size()) + " 1 u64";
  std::puts((std::string(step) + " " + shape_text(image.shape()) + " " + made).c_str());
  write(image.untyped_view());
  if (counts.empty()) return write(outcome.pixels);
  std::fwrite(counts.data(), sizeof counts[0], counts.size(), stdout);
}

void write_cases(Engine& engine, std::string_view step, Sample sample) {
  std::uint64_t seed = 1;
  for (const std::string_view content : kContents) {
    for (const Size& size : kSizes) {
      if (step == "crop:2x1+0+0" && size.width < 2) continue;
      const Shape shape{size.width, size.height, 1, sample};
      Image image(shape);
      fill({frame_type_of(shape), {image.untyped_view(), {}, {}, {}}}, std::string(content), seed++);
      write_case(engine, step, image);
    }
  }
}

// Means and standard deviations of the presets, negative ones, and some whose float16 are infinite or tiny.
constexpr std::array<std::string_view, 8> kNormalized{"mean=0.485:std=0.229",
                                                      "mean=0.48145466:std=0.26862954",
                                                      "mean=0.4578275:std=0.26130258",
                                                      "mean=0.40821073:std=0.27577711",
                                                      "mean=0.5:std=0.5",
                                                      "mean=-0.3:std=-7.1",
                                                      "mean=0.123456789012345:std=1e-6",
                                                      "mean=0.7:std=12345.6"};

// All values of a sample type, by each formula.
void write_normalized(Engine& engine, Sample sample) {
  Image image({bins(sample), 1, 1, sample});
  visit_sample(sample, [&]<class T>(T) {
    for (std::int64_t v = 0; v < bins(sample); ++v) image.untyped_view().as<T>().data[v] = static_cast<T>(v);
  });
  for (const std::string_view values : kNormalized) {
    for (const std::string_view formula : kTensorFormulaNames) {
      for (const std::string_view dtype : kTensorSampleNames) {
        write_case(engine,
                   "normalize:" + std::string(values) + ":formula=" + std::string(formula) +
                       ":dtype=" + std::string(dtype),
                   image);
      }
    }
  }
}

}  // namespace
}  // namespace imgpipe::test

int main() {
  using namespace imgpipe;
  using namespace imgpipe::test;
  const auto engine = make_reference_engine();
  for (const std::string_view step : kSteps) {
    if (step != "depth:float") write_cases(*engine, step, Sample::f32);
  }
  for (const Sample sample : {Sample::u8, Sample::u16}) {
    write_cases(*engine, "depth:float", sample);
    write_normalized(*engine, sample);
  }
}
