#include "pipeline/trimmed_steps.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "images/error.h"
#include "kernels/crop/trim.h"
#include "kernels/stage.h"
#include "pipeline/engine.h"
#include "pipeline/plan.h"

namespace imgpipe {
namespace {

bool is_trim(const StageRequest& step) {
  return step.stage->name == "trim";
}

// Adds an image's rows to a box, without encoding or holding them.
class BoxWriter final : public Writer {
 public:
  BoxWriter(const Shape& shape, TrimBox& box) : shape_(shape), box_(box) {}
  void write_rows(ConstHostView rows) override { box_.add(rows); }
  [[nodiscard]] std::int64_t working_bytes() const override { return 0; }
  EncodedFile finish() override {
    if (box_.rows() != shape_.height) throw Error(ErrorKind::usage, "finish: rows are missing");
    return {};
  }

 private:
  Shape shape_;
  TrimBox& box_;
};

TrimBox box_of(const StageRequest& trim, std::span<const StageRequest> before, std::unique_ptr<Reader> reader,
               std::int64_t max_pixels) {
  TrimBox box{TrimParameters(trim.parameters)};
  Job job;
  job.plan = make_plan(before, reader->header().shape, false, max_pixels);
  const Shape& shape = job.plan.output;
  if (is_float(shape.sample) || job.plan.tensor)
    throw Error(ErrorKind::usage,
                "trim" + trim.said + " does not accept floats; insert depth:8 or depth:16 before it");
  job.reader = std::move(reader);
  job.writer = std::make_unique<BoxWriter>(shape, box);
  job.keep_pixels = false;
  const Outcome outcome = make_cpu_engine(1)->run(std::move(job));
  if (outcome.error) std::rethrow_exception(outcome.error);
  return box;
}

}  // namespace

bool has_trim(std::span<const StageRequest> steps) {
  return std::ranges::any_of(steps, is_trim);
}

void refuse_trim(std::span<const StageRequest> steps) {
  if (has_trim(steps))
    throw Error(ErrorKind::usage,
                "--stages: trim: reads the pixels before the other stages run, which only imgpipe and "
                "run_directory() do; use crop here");
}

std::vector<StageRequest> steps_before_trim(std::span<const StageRequest> steps) {
  return {steps.begin(), std::ranges::find_if(steps, is_trim)};
}

TrimmedSteps trimmed_steps(std::span<const StageRequest> steps,
                           const std::function<std::unique_ptr<Reader>()>& open, std::int64_t max_pixels) {
  TrimmedSteps made;
  for (const StageRequest& step : steps) {
    if (!is_trim(step)) {
      made.steps.push_back(step);
      continue;
    }
    const TrimBox box = box_of(step, made.steps, open(), max_pixels);
    if (box.empty()) {
      made.notes.push_back("trim" + step.said + " found only background and changes nothing");
      continue;
    }
    made.steps.push_back(parse_stages("crop:" + std::to_string(box.width()) + "x" +
                                      std::to_string(box.height()) + "+" + std::to_string(box.x()) + "+" +
                                      std::to_string(box.y()))
                             .front());
  }
  return made;
}

}  // namespace imgpipe
