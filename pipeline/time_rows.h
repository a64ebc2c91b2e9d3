// A timeline's spans as rows: what reports show of it.
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

// Busy time: within each pass that in which at least one of the spans that `wanted` takes ran, on whatever
// thread; the median over passes, the warm-up's aside. Of all the spans of a name: the second.
[[nodiscard]] double busy_ms(const Timeline& timeline, bool (*wanted)(const Span&));
[[nodiscard]] double busy_ms(const Timeline& timeline, const std::string& name);

// A row for each name, in the order in which they first ran.
[[nodiscard]] std::vector<TimeRow> time_rows(const Timeline& timeline);

// 0 of none; of an even number the mean of the two in the middle.
[[nodiscard]] double median_of(std::vector<double> values);

// "host", "transfer", "kernel", "codec".
[[nodiscard]] std::string kind_name(SpanKind kind);

}  // namespace imgpipe
