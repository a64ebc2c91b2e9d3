// contrast:range= in --stages: one range for all images, from counts that imgpipe wrote (FILE.json) or makes
// first (series).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/stage_list.h"

namespace imgpipe {

// For --help: the stage that may have a range, and what the range may be.
inline constexpr std::string_view kRangedStage = "contrast";
inline constexpr std::string_view kRangeHelp =
    "One lo and hi for all images: range=FILE.json, of the counts that imgpipe stats --json or --histogram "
    "wrote; range=series, of all the pages that --pages chooses";
// What is typed of it.
inline constexpr std::string_view kRangeKey = "range=";
inline constexpr std::string_view kRangeOfSeries = "series";

// Steps contrast:...:range=series are left as contrast:..., and are these of the list: their range is that of
// all pages of the input (pipeline/jobs/input_job.h).
struct RangedList {
  std::string list;
  std::vector<std::size_t> of_series;
};

// Writes each step contrast:...:range=FILE as levels:LO:HI:BITS, with lo and hi as contrast finds them in
// FILE's counts by the step's clip: of all colour channels together, and of all groups of images together.
// FILE is what imgpipe stats --json wrote, or --histogram FILE.json, of which the counts before the stages
// are taken. A list without such a step comes back as it is. Throws Error(usage) for a step that asks for
// more than one range, and Error(input) for a file that cannot be read, that holds no counts, or whose counts
// have no range to stretch.
[[nodiscard]] RangedList with_ranges(const std::string& list, const StagePresets& presets);

// The same list, in which each range=FILE has the name that `named` gives it; what is no list comes back as
// it is.
[[nodiscard]] std::string with_range_files(const std::string& list,
                                           const std::function<std::string(const std::string& file)>& named);

}  // namespace imgpipe
