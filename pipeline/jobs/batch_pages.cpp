#include "pipeline/jobs/batch_pages.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "images/error.h"
#include "images/text.h"
#include "pipeline/jobs/batch_entry.h"

namespace imgpipe {

void BatchPages::run(const BatchItem& item, const std::string& track, Engine& engine, BatchResult& result) {
  const PageConsumer use =
      settings_.make_page_consumer ? settings_.make_page_consumer(result.item) : PageConsumer();
  ImageSettings settings = settings_;
  settings.make_row_consumer = use.make_row_consumer;
  InputJob input(image_files(item, result.item), settings, settings_.pages, InputKind::regular_only,
                 Timeline(origin_, track));
  if (settings_.memory_is_limit) input.set_max_bytes(settings_.memory_bytes / workers_);
  result.device = engine.implementation();
  if (result.device == "cuda") result.route = ImageRoute::device;
  input.open([](const Plan&, const ImageHeader&) {},
             [&](const std::string& damage) { result.warnings.push_back(damage); });
  result.header = input.first_header();
  result.input_bytes = input.input_bytes();
  if (settings_.pages) result.pages = input.range().count();
  if (!settings_.make_page_consumer) remove_stale_files(input);
  input.measure(engine);
  PageNotes said;
  input.run(engine, {.done = [&](FinishedItem& page) {
              take(page, use, said, result);
              result.needed_bytes = input.max_needed_bytes();
            }});
  input.finish();
  result.output_bytes = input.output_bytes();
  if (settings_.hash) {
    result.input_hashes = input.input_hashes();
    result.output_hashes = input.output_hashes();
    const std::vector<FileHashes> also = input.also_hashes();
    for (std::size_t i = 0; i < result.also.size(); ++i)
      result.also[i].hashes = i < also.size() ? also[i] : FileHashes();
  }
  if (settings_.pages && !settings_.make_page_consumer && !input.makes_stack())
    result.last_output = input.output_of(input.range().last);
  if (use.accept) naming(printable(item.input), use.accept);
}

void BatchPages::take(const FinishedItem& page, const PageConsumer& use, PageNotes& said,
                      BatchResult& result) const {
  const ImageJob& image = page.job;
  result.output = image.output_shape();
  result.tensor = page.outcome.plan.tensor;
  result.pixels += image.header().shape.pixels();
  add_also_results(image, result);
  if (result.depth_loss == DepthLoss::none) result.depth_loss = image.depth_loss();
  if (result.unpreserved_profile.empty()) result.unpreserved_profile = image.unpreserved_profile();
  if (result.unpreserved_metadata.empty()) result.unpreserved_metadata = image.unpreserved_metadata();
  for (ImageNote& note : warnings_of(image)) {
    if (said.is_new(note)) result.warnings.push_back(std::move(note.text));
  }
  if (use.page_done) naming(image.files().input_name, [&] { use.page_done(page); });
  if (image.in_bands()) result.route = ImageRoute::device_in_bands;
  for (const Span& span : page.job.timeline().spans()) {
    if (const std::optional<Part> part = part_of(span))
      result.busy[static_cast<std::size_t>(*part)] += span.length_ns();
    if (settings_.keep_spans) result.spans.push_back(span);
  }
}

// Removes temporary files that killed runs left for this input's outputs. Reads each directory once.
void BatchPages::remove_stale_files(const InputJob& input) {
  const std::lock_guard lock(mutex_);
  for (std::int64_t number = input.range().first; number <= input.range().last; ++number) {
    (void)stale_.remove(input.output_of(number));
    for (const std::string& also : input.also_outputs_of(number)) (void)stale_.remove(also);
  }
}

}  // namespace imgpipe
