// The results of imgpipe stats: a table for people, JSON and CSV for programs. No time stands in them, so
// that the same images give the same bytes.
#pragma once

#include <string>
#include <vector>

#include "app/report/fields.h"
#include "app/stats/stats_totals.h"

namespace imgpipe {

// Of JSON and of the table: a channel of a group, or of an image.
struct ChannelReport {
  ChannelStatistics statistics;
  std::vector<Percent> percents;
  Sample scale = Sample::u8;
};
void add_channel(Fields& fields, const ChannelReport& channel);
[[nodiscard]] Named<ChannelReport> channels_of(const ImageGroup& group, const std::vector<Percent>& percents);

// "200 images: 198 counted, 2 failed"
[[nodiscard]] std::string stats_head(const StatsTotals& totals);
[[nodiscard]] std::string stats_table(const StatsTotals& totals);
[[nodiscard]] std::string stats_json(const StatsTotals& totals);
[[nodiscard]] std::string stats_schema();

// Of each image, or page, its own, in the order of the files, into a file with this ending: .csv, .json or
// .ndjson. `rows` as `files`; what has failed has one line, without a page. Throws Error(output).
void write_stats_images(const StatsTotals& totals, const std::vector<BatchFile>& files,
                        const std::vector<std::vector<StatsImage>>& rows, const std::string& path);
[[nodiscard]] std::string stats_images_schema();
[[nodiscard]] std::string stats_line_schema();

}  // namespace imgpipe
