#include "app/report/histogram_file.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "app/report/json_head.h"

namespace imgpipe {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> plane_names(const Counts& counts) {
  return counts.planes() == 3 ? std::vector<std::string>{"red", "green", "blue"}
                              : std::vector<std::string>{"grey"};
}

std::string histogram_csv(const HistogramPair& pair) {
  std::string out = "bin";
  for (const std::string& name : plane_names(pair.before)) out += ",before_" + name;
  for (const std::string& name : plane_names(pair.after)) out += ",after_" + name;
  out += "\n";
  const int rows = std::max(pair.before.bins(), pair.after.bins());
  for (int bin = 0; bin < rows; ++bin) {
    out += std::to_string(bin);
    for (const Counts* counts : {&pair.before, &pair.after}) {
      for (int plane = 0; plane < counts->planes(); ++plane)  // empty: 8 bits have no such value
        out += "," + (bin < counts->bins() ? std::to_string(counts->at(plane, bin)) : "");
    }
    out += "\n";
  }
  return out;
}

Json counts_json(const Counts& counts, const std::string& label) {
  Json json{{"image", label}, {"bins", counts.bins()}};
  const std::vector<std::string> names = plane_names(counts);
  for (int plane = 0; plane < counts.planes(); ++plane) {
    Json values = Json::array();
    for (int bin = 0; bin < counts.bins(); ++bin) values.push_back(counts.at(plane, bin));
    json["counts"][names[static_cast<std::size_t>(plane)]] = values;
  }
  return json;
}

std::string histogram_json(const HistogramPair& pair) {
  Json json = plain_head(kHistogramSchema);
  json["title"] = pair.title;
  json["bins"] = pair.before.bins();
  json["contrast"] = Json::array();
  for (const ContrastRange& range : pair.ranges) {
    json["contrast"].push_back(
        {{"step", range.label}, {"plane", range.plane}, {"lo", range.lo}, {"hi", range.hi}});
  }
  json["before"] = counts_json(pair.before, pair.before_label);
  json["after"] = counts_json(pair.after, pair.after_label);
  return json.dump(2) + "\n";
}

}  // namespace

std::string histogram_text(const HistogramPair& pair, const std::string& path) {
  if (path.ends_with(".csv")) return histogram_csv(pair);
  return path.ends_with(".json") ? histogram_json(pair) : histogram_svg(pair);
}

}  // namespace imgpipe
