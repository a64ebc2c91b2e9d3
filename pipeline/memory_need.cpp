#include "pipeline/memory_need.h"

#include <algorithm>

#include "images/codecs/jpeg/jpeg_scan.h"
#include "images/codecs/jpeg/staged_scan.h"
#include "kernels/stage.h"
#include "pipeline/chains.h"

namespace imgpipe {

std::int64_t MemoryNeed::with_threads(int threads) const {
  return bytes + (std::min<std::int64_t>(bands_at_once(threads), max_bands) - 1) * band_bytes;
}

int MemoryNeed::threads_within(int threads, std::int64_t max_bytes) const {
  while (threads > 1 && with_threads(threads) > max_bytes) --threads;
  return threads;
}

MemoryNeed writer_need(const MemoryEstimateRequest& question, std::int64_t rows) {
  const Writer* const writer = question.writer;
  if (writer == nullptr) return {};
  return {question.handed_on ? writer->working_bytes_when_taken(rows) : writer->working_bytes(),
          writer->strip_bytes(), max_bands(question.plan.output.height, rows)};
}

MemoryNeed writer_need(const MemoryEstimateRequest& question) {
  const Plan encoded{.input = question.plan.output, .output = question.plan.output};
  const ChainedPlan chained(encoded, true, {});
  return writer_need(question, BandPlan(chained, chained.chains.front(), question.writer, 1).rows());
}

// The largest of three phases: decoding into a whole image; upload to download; encoding.
MemoryNeed lane_need(const MemoryEstimateRequest& question) {
  const std::int64_t source = question.plan.input.bytes();
  const std::int64_t result = question.plan.output.bytes();
  const MemoryNeed writer = writer_need(question);
  return {table_bytes_of(question.plan) + std::max({source + question.reader.working_bytes(true),
                                                    source + result, result + writer.bytes}),
          writer.band_bytes, writer.max_bands};
}

// The downloaded data is at most as large as the writer's bound; the writer holds it in addition to its file.
MemoryNeed coded_lane_need(const MemoryEstimateRequest& question) {
  const BaselineScan& scan = question.reader.jpeg_scan()->scan;
  // Segments are listed on the host and for the device. Each has at least three bytes.
  const std::int64_t segments =
      scan.restart_interval > 0 ? std::min(scan.mcus(), static_cast<std::int64_t>(scan.data.size() / 3)) : 1;
  constexpr std::int64_t kSegmentBytes = 3 * sizeof(ScanSegment);
  const auto staged = static_cast<std::int64_t>(staged_capacity(scan)) + segments * kSegmentBytes;
  const std::int64_t result = question.plan.output.bytes();  // if the device makes no file after all
  const MemoryNeed writer = writer_need(question);
  return {table_bytes_of(question.plan) + staged + question.reader.working_bytes(false) +
              std::max(result, writer.bytes) + writer.bytes,
          writer.band_bytes, writer.max_bands};
}

std::int64_t bytes_of_results(const Plan& plan) {
  std::int64_t bytes = 0;
  for (const auto& result : plan.results)
    bytes += result ? plan.operations[*result].out.bytes() : plan.input.bytes();
  return bytes;
}

std::int64_t bytes_of_steps(const Plan& plan) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const auto parts = plan.parts(i);
    const auto makes = [](const Operation& operation) { return makes_pixels(*operation.stage); };
    if (std::ranges::any_of(parts, makes)) bytes += parts.back().out.bytes();
  }
  return bytes;
}

std::int64_t table_bytes_of(const Plan& plan) {
  std::int64_t bytes = 0;
  for (const Operation& operation : plan.operations) {
    if (makes_counts(*operation.stage))
      bytes += static_cast<std::int64_t>(
          counters(counted_type(*operation.stage, operation.in, operation.parameters)) *
          sizeof(std::uint64_t));
    if (operation.table) bytes += std::ssize(*operation.table);
  }
  return bytes;
}

}  // namespace imgpipe
