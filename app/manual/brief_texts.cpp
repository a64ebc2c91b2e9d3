#include "app/manual/brief_texts.h"

#include <algorithm>
#include <array>

namespace imgpipe {
namespace {

constexpr std::array kBriefTexts{
    BriefText{"block", "Threads a block of CUDA, a multiple of 32"},
    BriefText{"calibrate", "Measure from which size on auto takes the GPU"},
    BriefText{"channels", "Channels, from 1 (grey) to 4 (RGBA)"},
    BriefText{"codec", "Which libraries decode and encode"},
    BriefText{"compare", "Compare every stage with the sequential reference"},
    BriefText{"device", "Where to work"},
    BriefText{"files-from", "Read the names of inputs from FILE"},
    BriefText{"format", "Format of the output"},
    BriefText{"fuse", "Two stages in one pass, where they are neighbours"},
    BriefText{"keep-stages", "Write the image of every stage into DIR, as PNG"},
    BriefText{"metadata", "Whether to preserve metadata"},
    BriefText{"name", "What files in the folder OUTPUT are called"},
    BriefText{"pattern", "What the image shows"},
    BriefText{"per-image", "Write statistics of each image, as .csv, .json or .ndjson"},
    BriefText{"percentiles", "Percentiles of each channel, in percent"},
    BriefText{"png-level", "PNG compression, 0 to 9"},
    BriefText{"repeat", "Times are medians of so many runs"},
    BriefText{"shard", "Only one part of the work, I of N"},
    BriefText{"stage", "Which ladders to measure"},
    BriefText{"stretch", "One range for all colour planes, or each its own"},
    BriefText{"study", "Which study to make"},
    BriefText{"sync", "Whether outputs survive a power failure"},
    BriefText{"template", "Write a kernel to begin with, of a stage"},
    BriefText{"trace", "Write what ran when, as .json for trace viewers"},
    BriefText{"webp", "Lossless or lossy WebP"},
    BriefText{"webp-level", "WebP compression, 0 to 9"},
    BriefText{"with", "Compile kernels of your own, check and time them"},
};

}  // namespace

std::span<const BriefText> brief_texts() {
  return kBriefTexts;
}

std::string_view brief_text(std::string_view option) {
  const auto row = std::ranges::find(kBriefTexts, option, &BriefText::option);
  return row == kBriefTexts.end() ? std::string_view() : row->text;
}

}  // namespace imgpipe
