// The table for people.
#include <algorithm>
#include <utility>

#include "app/report/result_table.h"
#include "app/report/text_columns.h"
#include "app/stats/stats_options.h"
#include "app/stats/stats_report.h"

namespace imgpipe {
namespace {

constexpr int kDecimals = 4;      // on the samples' scale
constexpr int kUnitDecimals = 6;  // on the scale 0 to 1

struct Row {
  std::string name;
  ChannelStatistics statistics;
};

std::vector<Row> rows_of(const ImageGroup& group, const std::vector<Percent>& percents) {
  std::vector<Row> rows;
  for_channels(group, [&](const std::string& name, const ImageGroup::Channel& channel) {
    rows.push_back({name, statistics_of(group.counts(channel), percents)});
  });
  return rows;
}

std::string group_head(const ImageGroup& group, bool of_pages) {
  std::string text = std::string(group_name(group.is_color())) + ": " +
                     counted(group.images, of_pages ? "page" : "image") + ", " +
                     counted(group.pixels, "pixel");
  if (group.alpha.images > 0) text += ", " + with_separators(group.alpha.images) + " with alpha";
  text += "; samples 0 to " + with_separators(static_cast<std::uint64_t>(max_sample(group.scale())));
  if (group.wide_images > 0 && group.wide_images < group.images)
    text += " (8 bits: times 257), " + with_separators(group.wide_images) + " of 16 bits";
  return text + "\n";
}

std::string listed(const std::vector<Row>& rows, std::size_t colors, double ChannelStatistics::*value) {
  std::string text;
  for (std::size_t c = 0; c < colors; ++c)
    text += (c == 0 ? "" : ", ") + number(rows[c].statistics.*value, kUnitDecimals);
  return "[" + text + "]";
}

std::string group_table(const ImageGroup& group, const StatsTotals& totals) {
  const std::vector<Percent>& percents = totals.percents;
  const std::vector<Row> rows = rows_of(group, percents);
  ResultTable first, second;
  first.columns = {{"channel", kNoTitle, true},
                   {"samples", "samples"},
                   {"min", "min"},
                   {"max", "max"},
                   {"mean", "mean"},
                   {"deviation", "deviation"},
                   {"unit_mean", "mean 0..1"},
                   {"unit_deviation", "deviation 0..1"}};
  second.columns = {{"channel", "percent", true}};
  for (const Percent percent : percents) second.columns.push_back({"", percent_text(percent)});
  for (const auto& [name, statistics] : rows) {
    first.rows.push_back({name, with_separators(statistics.samples), std::to_string(statistics.least),
                          std::to_string(statistics.most), number(statistics.mean, kDecimals),
                          number(statistics.deviation, kDecimals),
                          number(statistics.unit_mean, kUnitDecimals),
                          number(statistics.unit_deviation, kUnitDecimals)});
    second.rows.push_back({name});
    for (const int value : statistics.percentiles) second.rows.back().emplace_back(std::to_string(value));
  }
  return group_head(group, totals.pages.has_value()) + table_text(first) + "\n" + table_text(second) +
         "\n for training: mean=" + listed(rows, group.color.size(), &ChannelStatistics::unit_mean) +
         ", std=" + listed(rows, group.color.size(), &ChannelStatistics::unit_deviation) + "\n";
}

// "3 images had this, such as that"; "" for none.
std::string noted_text(const BatchTotals::Noted& noted, const std::string& what) {
  if (noted.images == 0) return "";
  return counted(noted.images, "image") + what + ", such as " + noted.example + "\n";
}

}  // namespace

std::string stats_head(const StatsTotals& totals) {
  std::string text = counted(totals.images, "image") + ": " + with_separators(totals.counted) + " counted, " +
                     with_separators(totals.failed()) + " failed";
  const std::size_t left = totals.images - totals.counted - totals.failures.size();
  if (left > 0) text += ", " + with_separators(left) + " not done";
  if (totals.pages) text += "; " + counted(static_cast<std::uint64_t>(*totals.pages), "page");
  if (!totals.stages.empty()) text += "; stages " + totals.stages;
  return text;
}

std::string stats_table(const StatsTotals& totals) {
  std::string text = stats_head(totals) + "\n";
  if (!totals.shard.empty()) text += totals.shard + "\n";
  if (!totals.stopped.empty()) text += "stopped early: " + totals.stopped + "\n";
  text += noted_text(totals.reduced, " had more than 8 bits a sample, which became 8");
  text += noted_text(totals.profiles, " had a colour profile, which is not applied");
  for (const auto& [is_color, group] : totals.groups) text += "\n" + group_table(group, totals);
  return text;
}

}  // namespace imgpipe
