// contrast:range= in --stages: one range for all images, from counts that imgpipe wrote (FILE.json) or
// computes in an extra pass (series).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/stage_list.h"

namespace imgpipe {

// For --help: the stage that accepts a range, and the allowed values.
inline constexpr std::string_view kRangedStage = "contrast";
inline constexpr std::string_view kRangeHelp =
    "One lo and hi for all images: range=FILE.json, from the counts that imgpipe stats --json or --histogram "
    "wrote; range=series, from all pages that --pages selects";
// The parameter's key and its special value.
inline constexpr std::string_view kRangeKey = "range=";
inline constexpr std::string_view kRangeOfSeries = "series";

// `list`: the stages, with contrast:... in place of each contrast:...:range=series. `of_series`: the indices
// of these steps, whose range is that of all pages of the input (pipeline/jobs/input_job.h).
struct RangedList {
  std::string list;
  std::vector<std::size_t> of_series;
};

// Rewrites each step contrast:...:range=FILE as levels:LO:HI:BITS. lo and hi are those that contrast would
// find with the step's clip, over all colour channels and all groups of images together.
// FILE is written by imgpipe stats --json or --histogram FILE.json, whose counts before the stages are used.
// Other lists are returned unchanged. Throws Error(usage) for a step with more than one range, and
// Error(input) if a file cannot be read, has no counts, or has no range to stretch.
[[nodiscard]] RangedList with_ranges(const std::string& list, const StagePresets& presets);

// Replaces the FILE of each range=FILE, and each second image with a dot or slash in its name, by the name
// that `named` returns. Second images with other names are named by --image.
[[nodiscard]] std::string rename_step_files(const std::string& list,
                                            const std::function<std::string(const std::string& file)>& named);

}  // namespace imgpipe
