#include "pipeline/timeline.h"

#include <algorithm>
#include <new>
#include <utility>

namespace imgpipe {

Timeline::Running::~Running() {
  span_.end_ns = timeline_.now_ns();
  try {
    timeline_.add(std::move(span_));
  } catch (const std::bad_alloc&) {
    // A row of the report matters less than the image in progress or the error being thrown.
  }
}

std::string Timeline::track_of(int thread, int threads) const {
  if (threads == 1) return track_;
  return (track_ == "host" ? "" : track_ + " ") + "cpu " + std::to_string(thread);
}

std::int64_t Timeline::union_ns() const {
  std::vector<std::pair<std::int64_t, std::int64_t>> intervals;
  intervals.reserve(spans_.size());
  for (const Span& span : spans_) intervals.emplace_back(span.start_ns, span.end_ns);
  std::ranges::sort(intervals);
  std::int64_t total = 0;
  std::int64_t covered_to = 0;
  for (const auto& [start, end] : intervals) {
    total += std::max<std::int64_t>(0, end - std::max(start, covered_to));
    covered_to = std::max(covered_to, end);
  }
  return total;
}

}  // namespace imgpipe
