// Summarises a timeline's spans as rows for reports.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/timeline.h"

namespace imgpipe {

struct TimeRow {
  std::string name;
  SpanKind kind = SpanKind::host;  // of its first span
  double time_ms = 0;              // busy time
  std::int64_t bytes = 0;          // read and written in one pass
};

// Busy time: per pass, the time in which at least one span accepted by `wanted` ran, on any thread; the
// median over passes except the warm-up. The second form accepts all spans of a name.
[[nodiscard]] double busy_ms(const Timeline& timeline, bool (*wanted)(const Span&));
[[nodiscard]] double busy_ms(const Timeline& timeline, const std::string& name);

// Returns a row per name, in the order of their first spans.
[[nodiscard]] std::vector<TimeRow> time_rows(const Timeline& timeline);

// Returns 0 for no values, and for an even count the mean of the two middle ones.
[[nodiscard]] double median_of(std::vector<double> values);

// "host", "transfer", "kernel", "codec".
[[nodiscard]] std::string kind_name(SpanKind kind);

}  // namespace imgpipe
