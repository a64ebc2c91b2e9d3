#include "app/pages/pages_report.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "app/report/json_head.h"
#include "app/report/json_schema.h"
#include "app/report/report_parts.h"
#include "images/error.h"
#include "images/text.h"
#include "kernels/stage.h"
#include "pipeline/statistics/series_range.h"

namespace imgpipe {
namespace {

void add_entry(Fields& fields, const PageEntry& page, bool compared) {
  fields.add("page", page.number, kFromOne);
  fields.add("output", given(printable(page.output)));
  fields.add("width_pixels", page.input.width, kFromOne);
  fields.add("height_pixels", page.input.height, kFromOne);
  fields.add("channels", page.input.channels, kChannels);
  fields.add("bits_per_sample", page.bits_per_sample, kFromOne);
  fields.add("output_width_pixels", page.written.width, kFromOne);
  fields.add("output_height_pixels", page.written.height, kFromOne);
  fields.add("output_channels", page.written.channels, kChannels);
  fields.add("output_bits_per_sample", bits_of(page.written), kOutputBits);
  fields.add("output_bytes", page.output_bytes);
  add_hashes(fields, page.output_hashes, "output_");
  fields.list("also", page.also, [](Fields& also, const AlsoFacts& file) {
    also.add("path", printable(file.path));
    add_hashes(also, file.hashes);
  });
  fields.add("wall_ms", page.wall_ms);
  fields.list("contrast", page.ranges, add_range);
  fields.list("outside", page.outside, add_outside);
  fields.add("comparison", comparison_of(compared, page.identical), kComparisons);
}

void add_report(Fields& fields, const ImageReport& sums, const RunFacts& facts,
                const std::vector<PageEntry>& entries, const std::vector<StageRequest>& series) {
  add_image_report(fields, kPagesSchema, sums, facts);
  fields.object("pages", [&](Fields& pages) {
    pages.add("in_file", facts.pages->in_file, kFromOne);
    pages.add("first", facts.pages->first, kFromOne);
    pages.add("last", facts.pages->last, kFromOne);
    pages.add("stack", facts.pages->stack);
    pages.list("series", series, [](Fields& range, const StageRequest& step) {
      const auto [lo, hi] = series_range(step);
      range.add("lo", lo, kAnyNumber).also(R"({"type": "number"})");
      range.add("hi", hi, kAnyNumber).also(R"({"type": "number"})");
    });
    pages.list("each", entries,
               [&](Fields& each, const PageEntry& page) { add_entry(each, page, sums.compared); });
  });
}

// "12 to 30", or "12" if both are equal.
std::string span_text(int least, int most) {
  return std::to_string(least) + (least == most ? "" : " to " + std::to_string(most));
}

}  // namespace

std::vector<std::string> range_lines(const std::vector<PageEntry>& pages) {
  struct Extent {
    ContrastRange least, most;
  };
  std::map<std::pair<std::string, int>, Extent> extents;
  std::vector<std::pair<std::string, int>> order;
  for (const PageEntry& page : pages) {
    for (const ContrastRange& range : page.ranges) {
      const auto [entry, fresh] = extents.try_emplace({range.label, range.plane}, Extent{range, range});
      if (fresh) order.push_back(entry->first);
      Extent& extent = entry->second;
      extent.least.lo = std::min(extent.least.lo, range.lo);
      extent.most.lo = std::max(extent.most.lo, range.lo);
      extent.least.hi = std::min(extent.least.hi, range.hi);
      extent.most.hi = std::max(extent.most.hi, range.hi);
    }
  }
  std::vector<std::string> lines;
  for (const auto& key : order) {
    const Extent& extent = extents.at(key);
    lines.push_back(key.first + ": lo " + span_text(extent.least.lo, extent.most.lo) + ", hi " +
                    span_text(extent.least.hi, extent.most.hi) +
                    (extent.least.of_one_plane ? ", plane " + std::to_string(key.second) : "") +
                    ", one range per page");
  }
  return lines;
}

std::string pages_report_json(const ImageReport& sums, const RunFacts& facts,
                              const std::vector<PageEntry>& pages, const std::vector<StageRequest>& series) {
  return fields_of([&](Fields& fields) { add_report(fields, sums, facts, pages, series); }).text();
}

std::string pages_schema() {
  return schema_text(kPagesSchema, "What a run over the pages of one input took: --pages, --report FILE.json",
                     [](Fields& fields) {
                       const ProcessOptions options;
                       add_report(fields, {}, {.options = &options, .pages = PageFacts()}, {}, {});
                     });
}

void add_counts(HistogramPair& sum, const HistogramPair& page, std::int64_t number) {
  for (const auto& [into, from] : {std::pair{&sum.before, &page.before}, {&sum.after, &page.after}}) {
    if (into->sample != from->sample || into->values.size() != from->values.size())
      throw Error(ErrorKind::usage,
                  "--histogram: page " + std::to_string(number) +
                      " differs in channels or bits from the pages before it; choose pages with --pages");
    std::ranges::transform(into->values, from->values, into->values.begin(), std::plus());
  }
}

}  // namespace imgpipe
