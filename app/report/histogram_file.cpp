#include "app/report/histogram_file.h"

#include <algorithm>

#include "app/report/json_head.h"
#include "app/report/json_schema.h"
#include "app/report/report_parts.h"

namespace imgpipe {
namespace {

constexpr std::array<const char*, 3> kOutside{"below", "above", "nan"};

std::string histogram_csv(const HistogramPair& pair) {
  std::string out = "bin";
  for (const std::string& name : plane_names(pair.before)) out += ",before_" + name;
  for (const std::string& name : plane_names(pair.after)) out += ",after_" + name;
  out += "\n";
  const int rows = std::max(pair.before.bins(), pair.after.bins());
  for (int bin = 0; bin < rows; ++bin) {
    out += std::to_string(bin);
    for (const Counts* counts : {&pair.before, &pair.after}) {
      for (int plane = 0; plane < counts->planes(); ++plane)  // empty beyond the range of 8 bits
        out += "," + (bin < counts->bins() ? std::to_string(counts->at(plane, bin)) : "");
    }
    out += "\n";
  }
  for (std::size_t i = 0;
       i < kOutside.size() && (is_float(pair.before.sample) || is_float(pair.after.sample)); ++i) {
    out += kOutside[i];
    for (const Counts* counts : {&pair.before, &pair.after}) {
      for (int plane = 0; plane < counts->planes(); ++plane)
        out += "," + (is_float(counts->sample) ? std::to_string(counts->outside(plane)[i]) : "");
    }
    out += "\n";
  }
  return out;
}

void add_counts_of(Fields& fields, const Counts& counts, const std::string& label) {
  Named<std::vector<std::uint64_t>> planes, outside;
  for (int plane = 0; plane < counts.planes(); ++plane) {
    auto& [name, values] = planes.emplace_back(plane_names(counts)[static_cast<std::size_t>(plane)],
                                               std::vector<std::uint64_t>());
    for (int bin = 0; bin < counts.bins(); ++bin) values.push_back(counts.at(plane, bin));
    if (!is_float(counts.sample)) continue;
    const auto most = counts.outside(plane);
    outside.emplace_back(name, std::vector(most.begin(), most.end()));
  }
  fields.add("image", label);
  fields.add("bins", counts.bins(), kHistogramBins);
  fields.object_if(is_float(counts.sample), "limits", [&](Fields& limits) {
    limits.add("lo", counts.limits.least, kAnyNumber);
    limits.add("hi", counts.limits.most, kAnyNumber);
    limits.add("outside", outside).about("samples below lo, above hi, and NaN");
  });
  fields.add("counts", planes).also(R"({"oneOf": [
    {"required": ["grey"], "maxProperties": 1}, {"required": ["red", "green", "blue"], "maxProperties": 3}]})");
}

void add_histogram(Fields& fields, const HistogramPair& pair) {
  add_version(fields);
  add_kind(fields, kHistogramSchema);
  fields.add("title", pair.title);
  fields.add("bins", pair.before.bins(), kHistogramBins).about("of the image before");
  fields.list("contrast", pair.ranges, add_range);
  fields.object("before", [&](Fields& image) { add_counts_of(image, pair.before, pair.before_label); });
  fields.object("after", [&](Fields& image) { add_counts_of(image, pair.after, pair.after_label); });
}

}  // namespace

std::vector<std::string> plane_names(const Counts& counts) {
  return counts.planes() == 3 ? std::vector<std::string>{"red", "green", "blue"}
                              : std::vector<std::string>{"grey"};
}

std::string histogram_text(const HistogramPair& pair, const std::string& path) {
  if (path.ends_with(".csv")) return histogram_csv(pair);
  if (path.ends_with(".svg")) return histogram_svg(pair);
  return fields_of([&](Fields& fields) { add_histogram(fields, pair); }).text();
}

std::string histogram_schema() {
  return schema_text(kHistogramSchema,
                     "Counts of an image before and after its stages: --histogram FILE.json",
                     [](Fields& fields) { add_histogram(fields, {}); });
}

}  // namespace imgpipe
