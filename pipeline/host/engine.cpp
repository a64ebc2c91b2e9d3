#include "pipeline/engine.h"

#include <algorithm>
#include <utility>

#include "images/error.h"
#include "images/memory/available_memory.h"
#include "kernels/stage.h"
#include "pipeline/host/chunk_reading.h"

namespace imgpipe {
namespace {

class MemoryReader final : public Reader {
 public:
  explicit MemoryReader(ConstHostView image) : image_(image) { header_.shape = image.shape(); }

 protected:
  void read_next_rows(HostView rows) override {
    copy_pixels(image_.rows(next_row_, rows.height), rows);
    next_row_ += rows.height;
  }

 private:
  ConstHostView image_;
  std::int64_t next_row_ = 0;
};

// Whether images, bands and tables of a plan take so little that estimating it would take longer than a
// stage.
bool is_small(const Plan& plan) {
  constexpr std::int64_t kFewBytes = std::int64_t{2} << 20;
  std::int64_t bytes = plan.input.bytes() + bytes_of_steps(plan) + table_bytes_of(plan);
  for (const Operation& operation : plan.operations)
    bytes += table_bytes(*operation.stage, operation.in, operation.parameters);
  return bytes <= kFewBytes;
}

}  // namespace

// The estimate for a device: the decoded image during the upload, the results, and kept images of
// steps.
MemoryNeed Engine::memory_need(const MemoryEstimateRequest& question) const {
  const std::int64_t source = question.plan.input.bytes();
  std::int64_t kept = table_bytes_of(question.plan);
  if (question.repeat > 0 || question.keep_source) kept += source;
  if (question.keep_outputs) kept += bytes_of_steps(question.plan);
  const MemoryNeed writer = writer_need(question);
  MemoryNeed reader{.bytes = question.reader.working_bytes(false)};
  if (question.reader.has_bands()) {
    const std::int64_t rows = chunk_band_rows(question.plan.input);
    reader.band_bytes = question.reader.band_bytes(rows);
    reader.bytes += reader.band_bytes;
    reader.max_bands = question.plan.input.height / rows + 1;
  }
  // Reading ends before writing begins.
  return {kept + source + bytes_of_results(question.plan) + std::max(reader.bytes, writer.bytes),
          std::max(reader.band_bytes, writer.band_bytes),
          reader.band_bytes == 0 ? writer.max_bands : std::max(reader.max_bands, writer.max_bands)};
}

void Engine::check_memory(Job& job, const Plan& plan) const {
  if (!job.source.empty() && is_small(plan)) return;
  try {
    if (!job.need) job.need = memory_need(memory_estimate_request(job, plan));
    check_available(job.need->with_threads(threads()) - kept_bytes());
  } catch (const Error&) {
    if (!job.reader->use_less_memory()) throw;
    check_available(memory_need(memory_estimate_request(job, plan)).with_threads(threads()));
  }
}

Outcome Engine::run(Job job) {
  Outcome outcome;
  outcome.plan = std::move(job.plan);
  outcome.timeline = std::move(job.timeline);
  try {
    check_memory(job, outcome.plan);
    execute(job, outcome);
    if (!job.target.empty() && outcome.pixels.data != job.target.data) {
      copy_pixels(outcome.pixels, job.target);
      outcome.pixels = outcome.results.back() = job.target;
    }
  } catch (...) {
    Outcome failed;
    failed.error = std::current_exception();
    failed.timeline = std::move(outcome.timeline);
    return failed;
  }
  return outcome;
}

std::unique_ptr<Reader> make_memory_reader(ConstHostView image) {
  return std::make_unique<MemoryReader>(image);
}

}  // namespace imgpipe
