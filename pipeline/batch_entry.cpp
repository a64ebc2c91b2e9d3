#include "pipeline/batch_entry.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "images/text.h"
#include "pipeline/bands.h"

namespace imgpipe {
namespace {

std::optional<Part> part_of(const Span& span) {
  if (span.kind == SpanKind::kernel) return Part::kernels;
  for (std::size_t i = 0; i < kParts; ++i) {
    if (span.name == part_name(static_cast<Part>(i))) return static_cast<Part>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view part_name(Part part) {
  constexpr std::array<std::string_view, kParts> kNames{"read",     "decode", "upload", "kernels",
                                                        "download", "encode", "write"};
  return kNames[static_cast<std::size_t>(part)];
}

std::int64_t bytes_needed(const BatchEntry& entry, const Engine& host) {
  const std::int64_t input = entry.plan.input.samples();
  const std::int64_t output = entry.plan.output.samples();
  const std::int64_t stages = entry.to_lane ? input + output : host.stage_bytes(entry.plan);
  constexpr std::int64_t kRest = std::int64_t{4} << 20;  // bands, strips, tables
  const std::int64_t file = entry.sink
                                ? entry.writer->working_bytes_when_taken(most_band_rows(entry.plan.output))
                                : entry.writer->working_bytes();
  return static_cast<std::int64_t>(entry.input.bytes().size()) + stages +
         entry.reader->working_bytes(entry.to_lane) + file + kRest;
}

Error over_budget(const BatchItem& item, std::int64_t bytes, std::int64_t budget_bytes) {
  return {ErrorKind::memory, printable(item.input) + ": needs up to " + std::to_string(bytes) +
                                 " bytes, --memory leaves " + std::to_string(budget_bytes) + " for images"};
}

void BatchEntry::let_go() noexcept {
  reader.reset();
  writer.reset();
  input = {};
  source = Image();
  pixels = Image();
  sink = {};
  output.reset();
}

void add_up_times(BatchEntry& entry) {
  BatchResult& result = entry.result;
  result.busy = {};
  result.end_ns = entry.timeline.now_ns();
  for (const Span& span : entry.timeline.spans()) {
    const std::optional<Part> part = part_of(span);
    if (!part) continue;
    const auto at = static_cast<std::size_t>(*part);
    result.busy[at] += span.length_ns();
    if (!entry.to_lane || span.kind == SpanKind::host) continue;
    Interval& interval = result.on_lane[at];
    if (interval.end_ns == 0) interval.start_ns = span.start_ns;
    interval = {std::min(interval.start_ns, span.start_ns), std::max(interval.end_ns, span.end_ns)};
  }
}

}  // namespace imgpipe
