#include "app/image_comparison.h"

#include <exception>
#include <memory>
#include <utility>

#include "app/report/image_report.h"
#include "images/error.h"
#include "pipeline/owned_frame.h"
#include "pipeline/timeline.h"

namespace imgpipe {
namespace {

Comparison compare_stages(const ProcessOptions& options, const Outcome& outcome) {
  const std::unique_ptr<Engine> engine = make_reference_engine();
  Job job;
  job.reader = make_memory_reader(outcome.source.untyped_view());
  job.plan = outcome.plan;
  job.repeat = reference_passes(options.reports.repeat);
  job.keep_outputs = true;
  Comparison comparison{engine->run(std::move(job)), {}, {}};
  if (comparison.reference.error) std::rethrow_exception(comparison.reference.error);
  comparison.differences = compare_outcomes(outcome, comparison.reference);
  return comparison;
}

void compare_decoded(const ImageJob& image, const Outcome& outcome, Comparison& comparison) {
  Timeline timeline;
  const Image decoded = image.decode_by_library(timeline);
  if (decoded.empty()) return;
  comparison.decoded = compare_frames(frame_of_image(std::as_const(outcome.source).untyped_view()),
                                      frame_of_image(decoded.untyped_view()));
  comparison.library_decode_ms = static_cast<double>(timeline.union_ns()) / 1e6;
}

}  // namespace

Comparison compare_with_reference(const ProcessOptions& options, const ImageJob& image,
                                  const Outcome& outcome) {
  Comparison comparison = naming(image.files().input_name, [&] { return compare_stages(options, outcome); });
  compare_decoded(image, outcome, comparison);
  return comparison;
}

}  // namespace imgpipe
