// What imgpipe stats has counted, and what it has not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/batch/batch_totals.h"
#include "app/jobs/batch_files.h"
#include "images/error.h"
#include "pipeline/statistics/image_statistics.h"

namespace imgpipe {

struct StatsFailure {
  const BatchFile* file = nullptr;
  ErrorKind kind = ErrorKind::input;
  std::string reason;  // with the path
};

struct StatsTotals {
  std::size_t images = 0;              // that were found
  std::size_t counted = 0;             // of them
  std::optional<std::int64_t> pages;   // of the images counted, with --pages
  std::vector<StatsFailure> failures;  // at the end in the order of the files
  std::vector<PathProblem> problems;   // folders that could not be read, and their like
  BatchTotals::Noted reduced;          // counted with 8 bits, of more in their files
  BatchTotals::Noted profiles;         // that have a colour profile other than sRGB
  std::string stages;                  // as --stages has them
  std::string shard;                   // for people; empty: there are none
  std::string stopped;                 // why it ended early; empty otherwise
  std::vector<Percent> percents;
  std::map<bool, ImageGroup> groups;  // by whether they have colour

  [[nodiscard]] std::size_t failed() const { return failures.size() + problems.size(); }
};

// The own statistics of an image, or with --pages of a page.
struct StatsImage {
  std::int64_t page = 0;    // from 1; 0: without --pages
  Shape shape{0, 0, 1};     // as it was counted
  int bits_per_sample = 0;  // of the file
  std::vector<ChannelStatistics> channels;
};

// Calls action(name, channel) for each channel of a group.
template <class Action>
void for_channels(const ImageGroup& group, const Action& action) {
  for (std::size_t c = 0; c < group.color.size(); ++c)
    action(std::string(color_names(group.is_color())[c]), group.color[c]);
  if (group.alpha.images > 0) action(std::string(kAlphaName), group.alpha);
}

}  // namespace imgpipe
