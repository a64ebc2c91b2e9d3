// The results for programs.
#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <nlohmann/json.hpp>

#include "app/batch/batch_report.h"
#include "app/report/json_head.h"
#include "app/report/text_columns.h"
#include "app/stats/stats_options.h"
#include "app/stats/stats_report.h"
#include "images/files/output_file.h"
#include "images/text.h"

namespace imgpipe {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 5> kChannelNames{"grey", "red", "green", "blue", kAlphaName};

std::vector<std::string_view> channel_names(const Shape& shape) {
  const auto colors = color_names(shape.color_channels() > 1);
  std::vector<std::string_view> names(colors.begin(), colors.end());
  if (shape.has_alpha()) names.push_back(kAlphaName);
  return names;
}

double unit(int value, SampleType scale) {
  return static_cast<double>(value) / max_sample(scale);
}

Json percentiles_json(const std::vector<Percent>& percents, const ChannelStatistics& statistics) {
  Json json = Json::object();
  for (std::size_t i = 0; i < percents.size(); ++i)
    json[percent_text(percents[i])] = statistics.percentiles[i];
  return json;
}

Json unit_json(const std::vector<Percent>& percents, const ChannelStatistics& statistics, SampleType scale) {
  Json json{{"min", unit(statistics.least, scale)},
            {"max", unit(statistics.most, scale)},
            {"mean", statistics.unit_mean},
            {"deviation", statistics.unit_deviation}};
  json["percentiles"] = Json::object();
  for (std::size_t i = 0; i < percents.size(); ++i)
    json["percentiles"][percent_text(percents[i])] = unit(statistics.percentiles[i], scale);
  return json;
}

Json channel_json(const std::vector<Percent>& percents, const ChannelStatistics& statistics,
                  SampleType scale) {
  return {{"samples", statistics.samples},
          {"min", statistics.least},
          {"max", statistics.most},
          {"mean", statistics.mean},
          {"deviation", statistics.deviation},
          {"percentiles", percentiles_json(percents, statistics)},
          {"unit", unit_json(percents, statistics, scale)}};
}

// Calls action(name, channel) for each channel of a group.
template <class Action>
void for_channels(const ImageGroup& group, const Action& action) {
  for (std::size_t c = 0; c < group.color.size(); ++c)
    action(std::string(color_names(group.is_color())[c]), group.color[c]);
  if (group.alpha.images > 0) action(std::string(kAlphaName), group.alpha);
}

Json group_json(const ImageGroup& group, const std::vector<Percent>& percents) {
  Json json{{"group", group_name(group.is_color())},
            {"images", group.images},
            {"images_with_alpha", group.alpha.images},
            {"images_of_16_bits", group.wide_images},
            {"pixels", group.pixels},
            {"maximum", max_sample(group.scale())}};
  for_channels(group, [&](const std::string& name, const ImageGroup::Channel& channel) {
    const ChannelStatistics statistics = statistics_of(group.counts(channel), percents);
    json["channels"][name] = channel_json(percents, statistics, group.scale());
    if (name == kAlphaName) return;
    json["mean"].push_back(statistics.unit_mean);
    json["std"].push_back(statistics.unit_deviation);
  });
  return json;
}

Json histogram_json(const ImageGroup& group) {
  Json json{{"group", group_name(group.is_color())}, {"bins", max_sample(group.scale()) + 1}};
  for_channels(group, [&](const std::string& name, const ImageGroup::Channel& channel) {
    json["counts"][name] = group.counts(channel);
  });
  return json;
}

// The path has a key of its own.
std::string reason_alone(const StatsFailure& failure) {
  return split_reason(failure.reason, *failure.file).alone;
}

Json failures_json(const StatsTotals& totals) {
  Json json = Json::array();
  for (const PathProblem& problem : totals.problems)
    json.push_back({{"input", printable(problem.path)}, {"error", "input"}, {"reason", problem.reason}});
  for (const StatsFailure& failure : totals.failures) {
    json.push_back({{"input", printable(failure.file->input)},
                    {"error", kind_of_error(failure.kind)},
                    {"reason", reason_alone(failure)}});
  }
  return json;
}

// ---- each image ------------------------------------------------------------------------------------------

const StatsFailure* failure_of(const StatsTotals& totals, const BatchFile& file) {
  const auto found = std::ranges::lower_bound(totals.failures, &file, {}, &StatsFailure::file);
  return found == totals.failures.end() || found->file != &file ? nullptr : &*found;
}

// Every key of an image, or page.
Json image_json(const StatsTotals& totals, const BatchFile& file, const StatsImage& image) {
  // The same images give the same bytes.
  Json json = plain_head(kStatsLineSchema);
  json["input"] = printable(file.input);
  json["status"] = "failed";
  for (const char* key : {"page", "error", "reason", "group", "width_pixels", "height_pixels",
                          "bits_per_sample", "maximum", "channels"})
    json[key] = nullptr;
  if (const StatsFailure* failure = failure_of(totals, file)) {
    json["error"] = kind_of_error(failure->kind);
    json["reason"] = reason_alone(*failure);
    return json;
  }
  if (image.page > 0) json["page"] = image.page;
  json["status"] = "counted";
  json["group"] = group_name(image.shape.color_channels() > 1);
  json["width_pixels"] = image.shape.width;
  json["height_pixels"] = image.shape.height;
  json["bits_per_sample"] = image.bits_per_sample;
  json["maximum"] = max_sample(image.shape.sample);
  const std::vector<std::string_view> names = channel_names(image.shape);
  json["channels"] = Json::object();
  for (std::size_t c = 0; c < names.size(); ++c)
    json["channels"][std::string(names[c])] =
        channel_json(totals.percents, image.channels[c], image.shape.sample);
  return json;
}

std::string csv_head(const std::vector<Percent>& percents) {
  std::string line = "input,page,status,group,width_pixels,height_pixels,bits_per_sample,maximum";
  for (const std::string_view name : kChannelNames) {
    for (const char* column : {"min", "max", "mean", "deviation"})
      line += "," + std::string(name) + "_" + column;
    for (const Percent percent : percents) line += "," + std::string(name) + "_p" + percent_text(percent);
  }
  return line + ",error,reason\n";
}

std::string csv_line(const StatsTotals& totals, const BatchFile& file, const StatsImage& image) {
  const Json json = image_json(totals, file, image);
  const auto field = [](const Json& value) {
    return value.is_null() ? "" : value.is_string() ? csv_field(value.get<std::string>()) : value.dump();
  };
  std::string line;
  for (const char* key :
       {"input", "page", "status", "group", "width_pixels", "height_pixels", "bits_per_sample", "maximum"})
    line += (line.empty() ? "" : ",") + field(json[key]);
  for (const std::string_view name : kChannelNames) {
    const bool has = json["channels"].is_object() && json["channels"].contains(std::string(name));
    const Json channel = has ? json["channels"][std::string(name)] : Json::object();
    for (const char* column : {"min", "max", "mean", "deviation"})
      line += "," + (has ? field(channel[column]) : "");
    for (const Percent percent : totals.percents)
      line += "," + (has ? field(channel["percentiles"][percent_text(percent)]) : "");
  }
  return line + "," + field(json["error"]) + "," + field(json["reason"]) + "\n";
}

}  // namespace

std::string stats_json(const StatsTotals& totals) {
  Json json = plain_head(kStatsSchema);
  json["command"] = "stats";
  json["stages"] = totals.stages;
  json["shard"] = totals.shard.empty() ? Json(nullptr) : Json(totals.shard);
  json["images"] = totals.images;
  json["counted"] = totals.counted;
  json["pages_counted"] = totals.pages ? Json(*totals.pages) : Json(nullptr);
  json["failed"] = totals.failed();
  json["images_reduced_to_8_bits"] = totals.reduced.images;
  json["images_with_a_profile"] = totals.profiles.images;
  json["groups"] = Json::array();
  for (const auto& [is_color, group] : totals.groups)
    json["groups"].push_back(group_json(group, totals.percents));
  json["failures"] = failures_json(totals);
  json["histograms"] = Json::array();
  for (const auto& [is_color, group] : totals.groups) json["histograms"].push_back(histogram_json(group));
  return json.dump(2) + "\n";
}

void write_stats_images(const StatsTotals& totals, const std::vector<BatchFile>& files,
                        const std::vector<std::vector<StatsImage>>& rows, const std::string& path) {
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  const bool json = path.ends_with(".json");
  const bool csv = path.ends_with(".csv");
  OutputFile file(path);
  std::string text;
  const auto give = [&](std::size_t least) {
    if (text.size() < least) return;
    file.append(std::as_bytes(std::span(text)));
    text.clear();
  };
  if (json) {
    text = "{";
    const Json head = plain_head(kStatsImagesSchema);
    for (const auto& [key, value] : head.items()) text += "\n  \"" + key + "\": " + value.dump() + ",";
    text += "\n  \"images\": [";
  }
  if (csv) text = csv_head(totals.percents);
  bool is_first = true;
  const auto add = [&](const BatchFile& of, const StatsImage& row) {
    if (json) text += std::exchange(is_first, false) ? "\n    " : ",\n    ";
    text += csv ? csv_line(totals, of, row) : image_json(totals, of, row).dump();
    if (!json && !csv) text += "\n";
    give(kPiece);
  };
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (failure_of(totals, files[i]) != nullptr) {
      add(files[i], {});
      continue;
    }
    for (const StatsImage& row : rows[i]) add(files[i], row);
  }
  if (json) text += "\n  ]\n}\n";
  give(1);
  file.put_in_place();
}

}  // namespace imgpipe
