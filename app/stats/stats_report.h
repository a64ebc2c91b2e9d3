// The results of imgpipe stats: a table for people, JSON and CSV for programs. They contain no times, so
// equal images give equal bytes.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "app/report/fields.h"
#include "app/stats/stats_totals.h"

namespace imgpipe {

// A channel of a group or of an image, for JSON and the table.
struct ChannelReport {
  ChannelStatistics statistics;
  std::vector<Percent> percents;
  Sample scale = Sample::u8;
};
void add_channel(Fields& fields, const ChannelReport& channel);
void add_float_channel(Fields& fields, const FloatStatistics& channel);
[[nodiscard]] Named<ChannelReport> channels_of(const ImageGroup& group, const std::vector<Percent>& percents);

// "200 images: 198 counted, 2 failed"
[[nodiscard]] std::string stats_head(const StatsTotals& totals);
[[nodiscard]] std::string stats_table(const StatsTotals& totals);
[[nodiscard]] std::string stats_json(const StatsTotals& totals);
[[nodiscard]] std::string stats_schema();

// Writes the statistics of each image or page, in the order of the files, as .csv, .json or .ndjson by
// ending. `rows` corresponds to `files`; a failed input has one line without a page. Throws Error(output).
void write_stats_images(const StatsTotals& totals, const std::deque<BatchFile>& files,
                        const std::vector<std::vector<StatsImage>>& rows, const std::string& path);
[[nodiscard]] std::string stats_images_schema();
[[nodiscard]] std::string stats_line_schema();

}  // namespace imgpipe
