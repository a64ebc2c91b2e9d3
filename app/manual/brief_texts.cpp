#include "app/manual/brief_texts.h"

#include <algorithm>
#include <array>

namespace imgpipe {
namespace {

constexpr std::array kBriefTexts{
    BriefText{"also", "Write a further result of the same image"},
    BriefText{"background", "Colour of the cells of --montage around the images"},
    BriefText{"block", "CUDA threads per block, a multiple of 32"},
    BriefText{"calibrate", "Measure from which image size auto uses the GPU"},
    BriefText{"cases", "Write a line for each result"},
    BriefText{"channels", "Channels, from 1 (grey) to 4 (RGBA)"},
    BriefText{"check", "Compare with the digests in FILE"},
    BriefText{"codec", "Which libraries decode and encode"},
    BriefText{"compare", "Compare every stage with the sequential reference"},
    BriefText{"device", "Device to run on"},
    BriefText{"files-from", "Read the names of inputs from FILE"},
    BriefText{"format", "Format of the output"},
    BriefText{"fuse", "Two stages in one pass, if adjacent"},
    BriefText{"hash", "Reports also hold SHA-256 of inputs and outputs"},
    BriefText{"image", "Name an image that steps read"},
    BriefText{"image-stages", "Stages that run once on a named image"},
    BriefText{"keep-stages", "Write the image of every stage into DIR, as PNG"},
    BriefText{"merge", "Merge the channels of 2 to 4 INPUTs"},
    BriefText{"metadata", "Whether to preserve metadata"},
    BriefText{"montage", "Make one image with a cell for each page or image"},
    BriefText{"name", "Names of the files in the directory OUTPUT"},
    BriefText{"pages", "Which pages or frames to process"},
    BriefText{"pattern", "Pattern of the image"},
    BriefText{"per-image", "Write statistics of each image, as .csv, .json or .ndjson"},
    BriefText{"percentiles", "Percentiles of each channel, in percent"},
    BriefText{"png-level", "PNG compression, 0 to 9"},
    BriefText{"repeat", "Times are medians of N runs"},
    BriefText{"shard", "Process only part I of N"},
    BriefText{"split", "Write each channel as a grey image"},
    BriefText{"stack", "Make one image of all pages or images"},
    BriefText{"stage", "Which ladders to measure"},
    BriefText{"stretch", "One range for all colour planes, or one per plane"},
    BriefText{"study", "Which study to run"},
    BriefText{"sync", "Whether outputs survive a power failure"},
    BriefText{"template", "Write an example kernel for a stage"},
    BriefText{"then", "Stages that run on the result of --stack"},
    BriefText{"trace", "Write what ran when, as .json for trace viewers"},
    BriefText{"webp", "Lossless or lossy WebP"},
    BriefText{"webp-level", "WebP compression, 0 to 9"},
    BriefText{"with", "Compile, check and time your kernels"},
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
