#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <span>
#include <utility>

#include "app/report/csv.h"
#include "app/report/json_head.h"
#include "app/report/json_schema.h"
#include "app/report/report_parts.h"
#include "app/report/text_columns.h"
#include "app/stats/stats_options.h"
#include "app/stats/stats_report.h"
#include "images/files/output_file.h"
#include "images/text.h"

namespace imgpipe {
namespace {

constexpr std::array<std::string_view, 5> kChannelNames{"grey", "red", "green", "blue", kAlphaName};
constexpr Rule kMaximum = one_of(255, 65535);
constexpr Rule kGroups = one_of("grey|rgb");

std::vector<std::string_view> channel_names(const Shape& shape) {
  const auto colors = color_names(shape.color_channels() > 1);
  std::vector<std::string_view> names(colors.begin(), colors.end());
  if (shape.has_alpha()) names.push_back(kAlphaName);
  return names;
}

// ---- the data set ----------------------------------------------------------------------------------------

void add_group(Fields& fields, const ImageGroup& group, const std::vector<Percent>& percents) {
  const Named<ChannelReport> channels = channels_of(group, percents);
  std::vector<double> means, deviations;
  for (const auto& [name, channel] : channels) {
    if (name == kAlphaName) continue;
    means.push_back(channel.statistics.unit_mean);
    deviations.push_back(channel.statistics.unit_deviation);
  }
  fields.add("group", group_name(group.is_color()), kGroups);
  fields.add("images", group.images, kFromOne);
  fields.add("images_with_alpha", group.alpha.images);
  fields.add("images_of_16_bits", group.wide_images);
  fields.add("pixels", group.pixels, kFromOne);
  fields.add("maximum", max_sample(group.scale()), kMaximum);
  fields.names("channels", channels, add_channel);
  fields.add("mean", means);
  fields.add("std", deviations);
}

void add_float_channel_with(Fields& fields, const FloatStatistics& channel,
                            const std::optional<FloatBins>& bins) {
  add_float_channel(fields, channel);
  const FloatBins range = bins.value_or(FloatBins());
  fields
      .object_if(bins.has_value(), "histogram",
                 [&](Fields& histogram) {
                   histogram.add("least", range.least, kAnyNumber);
                   histogram.add("most", range.most, kAnyNumber);
                   histogram.add("bins", range.bins, kFromOne);
                   histogram.add("below", channel.below);
                   histogram.add("above", channel.above);
                   histogram.add("counts", channel.counts);
                 })
      .about("of the finite samples, by --range and --bins");
}

void add_float_group(Fields& fields, const FloatGroup& group, const std::optional<FloatBins>& bins) {
  fields.add("group", group_name(group.is_color()), kGroups);
  fields.add("images", group.images, kFromOne);
  fields.add("images_with_alpha", group.alpha_images);
  fields.add("pixels", group.pixels, kFromOne);
  fields.names("channels", float_channels_of(group), [&](Fields& each, const FloatStatistics& channel) {
    add_float_channel_with(each, channel, bins);
  });
}

void add_histogram(Fields& fields, const ImageGroup& group) {
  Named<std::vector<std::uint64_t>> counts;
  for_channels(group, [&](const std::string& name, const ImageGroup::Channel& channel) {
    counts.emplace_back(name, group.counts(channel));
  });
  fields.add("group", group_name(group.is_color()), kGroups);
  fields.add("bins", bins(group.scale()), kHistogramBins);
  fields.add("counts", counts);
}

// Returns the reason without the path, which has its own key.
std::string reason_without_path(const StatsFailure& failure) {
  return split_reason(failure.reason, *failure.file).alone;
}

std::vector<ReportFailure> all_failures(const StatsTotals& totals) {
  std::vector<ReportFailure> all;
  for (const PathProblem& problem : totals.problems)
    all.push_back({printable(problem.path), ErrorKind::input, problem.reason});
  for (const StatsFailure& failure : totals.failures)
    all.push_back({printable(failure.file->input), failure.kind, reason_without_path(failure)});
  return all;
}

void add_stats(Fields& fields, const StatsTotals& totals) {
  std::vector<ImageGroup> groups;
  for (const auto& [is_color, group] : totals.groups) groups.push_back(group);
  std::vector<FloatGroup> float_groups;
  for (const auto& [is_color, group] : totals.float_groups) float_groups.push_back(group);
  add_version(fields);
  add_kind(fields, kStatsSchema);
  fields.fixed("command", "stats");
  fields.add("stages", totals.stages);
  fields.add("shard", given(totals.shard));
  fields.add("images", totals.images);
  fields.add("counted", totals.counted);
  fields.add("pages_counted", totals.pages);
  fields.add("failed", totals.failed());
  fields.add("images_reduced_to_8_bits", totals.reduced.images);
  fields.add("images_with_a_profile", totals.profiles.images);
  fields.list("groups", groups,
              [&](Fields& each, const ImageGroup& group) { add_group(each, group, totals.percents); });
  fields
      .list("float_groups", float_groups,
            [&](Fields& each, const FloatGroup& group) { add_float_group(each, group, totals.bins); })
      .about("images of floats, on the scale of their samples");
  fields.list("failures", all_failures(totals), add_failure);
  fields.list("histograms", groups, add_histogram);
}

// ---- each image ------------------------------------------------------------------------------------------

const StatsFailure* failure_of(const StatsTotals& totals, std::size_t item) {
  const auto found = std::ranges::lower_bound(totals.failures, item, {}, &StatsFailure::item);
  return found == totals.failures.end() || found->item != item ? nullptr : &*found;
}

struct ImageRow {
  std::string input{};  // path
  const StatsFailure* failure = nullptr;
  StatsImage image{};
  std::vector<Percent> percents{};
};

void add_image_row(Fields& fields, const ImageRow& row) {
  const StatsFailure* const failure = row.failure;
  const StatsImage& image = row.image;
  const auto if_counted = [&](const auto& value) { return failure ? std::nullopt : std::optional(value); };
  add_version(fields);  // without date and host: equal images give equal bytes
  add_kind(fields, kStatsLineSchema);
  fields.add("input", printable(row.input));
  fields.add("status", failure ? "failed" : "counted", one_of("counted|failed"));
  fields.add("page", image.page > 0 ? if_counted(image.page) : std::nullopt, kFromOne);
  fields.add("error", failure ? std::optional(kind_of_error(failure->kind)) : std::nullopt, kErrorKinds);
  fields.add("reason", failure ? std::optional(reason_without_path(*failure)) : std::nullopt);
  fields.add("group", if_counted(group_name(image.shape.color_channels() > 1)), kGroups);
  fields.add("width_pixels", if_counted(image.shape.width), kFromOne);
  fields.add("height_pixels", if_counted(image.shape.height), kFromOne);
  fields.add("bits_per_sample", if_counted(image.bits_per_sample), kFromOne);
  const bool has_floats = is_float(image.shape.sample);
  fields.add("maximum", failure || has_floats ? std::nullopt : std::optional(max_sample(image.shape.sample)),
             kMaximum);
  Named<ChannelReport> channels;
  const std::vector<std::string_view> names = channel_names(image.shape);
  for (std::size_t c = 0; c < image.channels.size(); ++c)
    channels.emplace_back(names[c], ChannelReport{image.channels[c], row.percents, image.shape.sample});
  fields.names_if(failure == nullptr && !has_floats, "channels", channels, add_channel);
  Named<FloatStatistics> float_channels;
  for (std::size_t c = 0; c < image.float_channels.size(); ++c)
    float_channels.emplace_back(names[c], image.float_channels[c]);
  fields.names_if(failure == nullptr && has_floats, "float_channels", float_channels, add_float_channel);
}

Json line_of(const ImageRow& row) {
  return fields_of([&](Fields& fields) { add_image_row(fields, row); }).json();
}

void add_images(Fields& fields) {
  add_version(fields);
  add_kind(fields, kStatsImagesSchema);
  fields.list("images", std::vector<ImageRow>(), add_image_row);
}

// Returns a row with columns for all channels, whether the image has them or not.
Json csv_columns(const ImageRow& row) {
  Json json = line_of(row), columns;
  for (const char* key :
       {"input", "page", "status", "group", "width_pixels", "height_pixels", "bits_per_sample", "maximum"})
    columns[key] = json[key];
  for (const std::string_view name : kChannelNames) {
    const Json& channels = json[json["channels"].is_object() ? "channels" : "float_channels"];
    const bool has = channels.is_object() && channels.contains(name);
    Json channel = has ? channels[std::string(name)] : Json::object();
    for (const char* column : {"min", "max", "mean", "deviation"})
      columns[std::string(name) + "_" + column] = channel[column];
    for (const Percent percent : row.percents)
      columns[std::string(name) + "_p" + percent_text(percent)] =
          channel["percentiles"][percent_text(percent)];
  }
  for (const char* key : {"error", "reason"}) columns[key] = json[key];
  return columns;
}

}  // namespace

void add_channel(Fields& fields, const ChannelReport& channel) {
  constexpr int kDecimals = 4;      // on the samples' scale
  constexpr int kUnitDecimals = 6;  // on the scale 0 to 1
  const ChannelStatistics& statistics = channel.statistics;
  const auto on_unit_scale = [&](int value) {
    return static_cast<double>(value) / max_sample(channel.scale);
  };
  Named<int> percentiles;
  Named<double> unit_percentiles;
  for (std::size_t i = 0; i < channel.percents.size(); ++i) {
    const std::string percent = percent_text(channel.percents[i]);
    percentiles.emplace_back(percent, statistics.percentiles[i]);
    unit_percentiles.emplace_back(percent, on_unit_scale(statistics.percentiles[i]));
  }
  fields.add("samples", statistics.samples).column("samples", with_separators(statistics.samples));
  fields.add("min", statistics.least).column("min");
  fields.add("max", statistics.most).column("max");
  fields.add("mean", statistics.mean).column("mean", kDecimals);
  fields.add("deviation", statistics.deviation).column("deviation", kDecimals);
  fields.add("percentiles", percentiles);
  fields.object("unit", [&](Fields& unit) {
    unit.add("min", on_unit_scale(statistics.least));
    unit.add("max", on_unit_scale(statistics.most));
    unit.add("mean", statistics.unit_mean).column("mean 0..1", kUnitDecimals);
    unit.add("deviation", statistics.unit_deviation).column("deviation 0..1", kUnitDecimals);
    unit.add("percentiles", unit_percentiles);
  });
}

void add_float_channel(Fields& fields, const FloatStatistics& channel) {
  const auto text = [](double value) {
    std::array<char, 32> digits{};
    std::snprintf(digits.data(), digits.size(), "%.7g", value);
    return std::string(digits.data());
  };
  const std::uint64_t infinite = channel.positive_infinite + channel.negative_infinite;
  fields.add("samples", channel.samples).column("samples", with_separators(channel.samples));
  fields.add("nan", channel.nan).column("NaN", with_separators(channel.nan));
  fields.add("positive_infinite", channel.positive_infinite);
  fields.add("negative_infinite", channel.negative_infinite).column("infinite", with_separators(infinite));
  fields.add("min", channel.least, kAnyNumber).column("min", text(channel.least));
  fields.add("max", channel.most, kAnyNumber).column("max", text(channel.most));
  fields.add("mean", channel.mean, kAnyNumber).column("mean", text(channel.mean));
  fields.add("deviation", channel.deviation).column("deviation", text(channel.deviation));
}

Named<ChannelReport> channels_of(const ImageGroup& group, const std::vector<Percent>& percents) {
  Named<ChannelReport> channels;
  for_channels(group, [&](const std::string& name, const ImageGroup::Channel& channel) {
    channels.emplace_back(
        name, ChannelReport{statistics_of(group.counts(channel), percents), percents, group.scale()});
  });
  return channels;
}

std::string stats_json(const StatsTotals& totals) {
  return fields_of([&](Fields& fields) { add_stats(fields, totals); }).text();
}

std::string stats_schema() {
  return schema_text(
      kStatsSchema,
      "Statistics of a data set: imgpipe stats --json. The same images give the same bytes: no "
      "date, no host, no device",
      [](Fields& fields) { add_stats(fields, {}); });
}

std::string stats_images_schema() {
  return schema_text(kStatsImagesSchema, "Each image's own statistics: imgpipe stats --per-image FILE.json",
                     add_images);
}

std::string stats_line_schema() {
  return schema_text(kStatsLineSchema,
                     "A line of imgpipe stats --per-image FILE.ndjson: one image's statistics",
                     [](Fields& fields) { add_image_row(fields, {}); });
}

void write_stats_images(const StatsTotals& totals, const std::deque<BatchFile>& files,
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
    const Json head = fields_of(add_images).json();
    text = "{";
    for (const auto& [key, value] : head.items())
      text += "\n  \"" + key + "\": " + (value.is_array() ? "[" : value.dump() + ",");
  }
  if (csv) text = csv_head(csv_columns({.percents = totals.percents}));
  bool is_first = true;
  const auto add = [&](std::size_t item, const StatsImage& image) {
    const ImageRow row{files[item].input, failure_of(totals, item), image, totals.percents};
    if (json) text += std::exchange(is_first, false) ? "\n    " : ",\n    ";
    text += csv ? csv_row(csv_columns(row)) : line_of(row).dump();
    if (!json && !csv) text += "\n";
    give(kPiece);
  };
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (failure_of(totals, i) != nullptr) {
      add(i, {});
      continue;
    }
    for (const StatsImage& row : rows[i]) add(i, row);
  }
  if (json) text += "\n  ]\n}\n";
  give(1);
  file.put_in_place();
}

}  // namespace imgpipe
