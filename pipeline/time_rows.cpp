#include "pipeline/time_rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace imgpipe {
namespace {

template <class Wanted>
double busy_ms_of(const Timeline& timeline, const Wanted& wanted) {
  std::map<int, Timeline> by_pass;
  for (const Span& span : timeline.spans()) {
    if (span.pass != kWarmUpPass && wanted(span)) by_pass[span.pass].add(span);
  }
  std::vector<double> times;
  times.reserve(by_pass.size());
  for (const auto& [pass, spans] : by_pass) times.push_back(static_cast<double>(spans.union_ns()) / 1e6);
  return median_of(std::move(times));
}

}  // namespace

double busy_ms(const Timeline& timeline, bool (*wanted)(const Span&)) {
  return busy_ms_of(timeline, wanted);
}

double busy_ms(const Timeline& timeline, const std::string& name) {
  return busy_ms_of(timeline, [&](const Span& span) { return span.name == name; });
}

std::vector<TimeRow> time_rows(const Timeline& timeline) {
  std::vector<TimeRow> rows;
  std::vector<Span> ordered = timeline.spans();
  std::ranges::stable_sort(ordered, {}, &Span::start_ns);
  for (const Span& span : ordered) {
    auto row = std::ranges::find(rows, span.name, &TimeRow::name);
    if (row == rows.end()) {
      rows.push_back({.name = span.name, .kind = span.kind, .time_ms = busy_ms(timeline, span.name)});
      row = rows.end() - 1;
    }
    if (span.pass == 0) row->bytes += span.bytes;
  }
  return rows;
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string kind_name(SpanKind kind) {
  constexpr std::array<const char*, 4> kNames{"host", "transfer", "kernel", "codec"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace imgpipe
