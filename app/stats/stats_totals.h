// The totals of imgpipe stats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/batch/batch_totals.h"
#include "app/jobs/batch_files.h"
#include "app/report/fields.h"
#include "images/error.h"
#include "pipeline/statistics/image_statistics.h"

namespace imgpipe {

struct StatsFailure {
  std::size_t item = 0;  // in BatchFiles::files
  const BatchFile* file = nullptr;
  ErrorKind kind = ErrorKind::input;
  std::string reason;  // with the path
};

struct StatsTotals {
  std::size_t images = 0;                  // found
  std::size_t counted = 0;                 // successfully
  std::optional<std::int64_t> pages;       // in the counted images, with --pages
  std::vector<StatsFailure> failures;      // sorted by item at the end
  std::vector<PathProblem> problems;       // such as unreadable directories
  BatchTotals::CountWithExample reduced;   // files with more than 8 bits counted as 8
  BatchTotals::CountWithExample profiles;  // with a colour profile other than sRGB
  std::string stages;                      // --stages
  std::string shard;                       // for people; empty if there are no shards
  std::string stopped;                     // why the run ended early; otherwise empty
  std::vector<Percent> percents;
  std::map<bool, ImageGroup> groups;  // by whether they are colour images
  std::map<bool, FloatGroup> float_groups;
  std::optional<FloatBins> bins;  // --range, --bins

  [[nodiscard]] std::size_t failed() const { return failures.size() + problems.size(); }
};

// The statistics of an image, or of a page with --pages.
struct StatsImage {
  std::int64_t page = 0;                        // from 1; 0: without --pages
  Shape shape{0, 0, 1};                         // as counted
  int bits_per_sample = 0;                      // in the file
  std::vector<ChannelStatistics> channels;      // of integers
  std::vector<FloatStatistics> float_channels;  // of floats
};

// Calls action(name, channel) for each channel of a group.
template <class Action>
void for_channels(const ImageGroup& group, const Action& action) {
  for (std::size_t c = 0; c < group.color.size(); ++c)
    action(std::string(color_names(group.is_color())[c]), group.color[c]);
  if (group.alpha.images > 0) action(std::string(kAlphaName), group.alpha);
}

// Returns the statistics of each channel of a group of floats.
[[nodiscard]] inline Named<FloatStatistics> float_channels_of(const FloatGroup& group) {
  Named<FloatStatistics> channels;
  for (int c = 0; c < group.color.channels(); ++c)
    channels.emplace_back(color_names(group.is_color())[static_cast<std::size_t>(c)],
                          group.color.statistics(c));
  if (group.alpha_images > 0) channels.emplace_back(kAlphaName, group.alpha.statistics(0));
  return channels;
}

}  // namespace imgpipe
