#include "app/report/result_table.h"
#include "app/report/text_columns.h"
#include "app/stats/stats_options.h"
#include "app/stats/stats_report.h"

namespace imgpipe {
namespace {

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

std::string listed(const Named<ChannelReport>& channels, double ChannelStatistics::*value) {
  constexpr int kDecimals = 6;
  std::string text;
  for (const auto& [name, channel] : channels)
    if (name != kAlphaName) text += (text.empty() ? "" : ", ") + number(channel.statistics.*value, kDecimals);
  return "[" + text + "]";
}

std::string group_table(const ImageGroup& group, const StatsTotals& totals) {
  const Named<ChannelReport> channels = channels_of(group, totals.percents);
  const ResultTable values = table_of(channels, [](Fields& fields, const auto& named) {
    fields.add("channel", named.first).column(kNoTitle);
    add_channel(fields, named.second);
  });
  const ResultTable percentiles = table_of(channels, [&](Fields& fields, const auto& named) {
    fields.add("channel", named.first).column("percent");
    for (std::size_t i = 0; i < totals.percents.size(); ++i) {
      const std::vector<int>& found = named.second.statistics.percentiles;
      fields.add("", found.empty() ? 0 : found[i]).column(percent_text(totals.percents[i]));
    }
  });
  return group_head(group, totals.pages.has_value()) + table_text(values) + "\n" + table_text(percentiles) +
         "\n for training: mean=" + listed(channels, &ChannelStatistics::unit_mean) +
         ", std=" + listed(channels, &ChannelStatistics::unit_deviation) + "\n";
}

std::string float_group_table(const FloatGroup& group, bool of_pages) {
  const ResultTable values = table_of(float_channels_of(group), [](Fields& fields, const auto& named) {
    fields.add("channel", named.first).column(kNoTitle);
    add_float_channel(fields, named.second);
  });
  std::string head = std::string(group_name(group.is_color())) +
                     " of floats: " + counted(group.images, of_pages ? "page" : "image") + ", " +
                     counted(group.pixels, "pixel");
  if (group.alpha_images > 0) head += ", " + with_separators(group.alpha_images) + " with alpha";
  return head + "\n" + table_text(values);
}

std::string noted_text(const BatchTotals::CountWithExample& noted, const std::string& what) {
  if (noted.images == 0) return "";
  return counted(noted.images, "image") + what + ", for example " + noted.example + "\n";
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
  text += noted_text(totals.reduced, " had more than 8 bits per sample, reduced to 8");
  text += noted_text(totals.profiles, " had a colour profile that was not applied");
  for (const auto& [is_color, group] : totals.groups) text += "\n" + group_table(group, totals);
  for (const auto& [is_color, group] : totals.float_groups)
    text += "\n" + float_group_table(group, totals.pages.has_value());
  return text;
}

}  // namespace imgpipe
