#include "app/pages/pages_report.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "app/report/json_head.h"
#include "images/error.h"
#include "images/text.h"
#include "kernels/stage.h"

namespace imgpipe {
namespace {

using Json = nlohmann::ordered_json;

Json ranges_json(const std::vector<ContrastRange>& ranges) {
  Json json = Json::array();
  for (const ContrastRange& range : ranges)
    json.push_back({{"step", range.label}, {"plane", range.plane}, {"lo", range.lo}, {"hi", range.hi}});
  return json;
}

Json entry_json(const PageEntry& page, bool compared) {
  Json json{{"page", page.number}};
  json["output"] = page.output.empty() ? Json(nullptr) : Json(printable(page.output));
  json["width_pixels"] = page.input.width;
  json["height_pixels"] = page.input.height;
  json["channels"] = page.input.channels;
  json["bits_per_sample"] = page.bits_per_sample;
  json["output_width_pixels"] = page.written.width;
  json["output_height_pixels"] = page.written.height;
  json["output_channels"] = page.written.channels;
  json["output_bits_per_sample"] = bits_of(page.written);
  json["output_bytes"] = page.output_bytes;
  json["wall_ms"] = page.wall_ms;
  json["contrast"] = ranges_json(page.ranges);
  json["comparison"] = compared ? Json(page.identical ? "identical" : "different") : Json(nullptr);
  return json;
}

// From the least to the largest.
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
                    ", a range a page");
  }
  return lines;
}

std::string pages_report_json(const ImageReport& sums, const RunFacts& facts,
                              const std::vector<PageEntry>& pages, const std::vector<StageRequest>& series) {
  Json json = Json::parse(image_report_json(sums, facts));
  json["schema"] = schema_id(kPagesSchema);
  Json& all = json["pages"];
  all["in_file"] = facts.pages->in_file;
  all["first"] = facts.pages->first;
  all["last"] = facts.pages->last;
  all["stack"] = facts.pages->stack;
  all["series"] = Json::array();
  for (const StageRequest& step : series)
    all["series"].push_back({{"lo", step.parameters[0]}, {"hi", step.parameters[1]}});
  all["each"] = Json::array();
  for (const PageEntry& page : pages) all["each"].push_back(entry_json(page, sums.compared));
  return json.dump(2) + "\n";
}

void add_counts(HistogramPair& sum, const HistogramPair& page, std::int64_t number) {
  for (const auto& [into, from] : {std::pair{&sum.before, &page.before}, {&sum.after, &page.after}}) {
    if (into->sample != from->sample || into->values.size() != from->values.size())
      throw Error(ErrorKind::usage, "--histogram adds up pages of the same channels and bits, and page " +
                                        std::to_string(number) + " has others; choose pages with --pages");
    std::ranges::transform(into->values, from->values, into->values.begin(), std::plus());
  }
}

}  // namespace imgpipe
