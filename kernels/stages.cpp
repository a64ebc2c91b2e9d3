#include <algorithm>
#include <array>

#include "kernels/contrast/contrast.h"
#include "kernels/gray/gray.h"
#include "kernels/hist/hist.h"
#include "kernels/layout/layout.h"
#include "kernels/smooth/smooth.h"
#include "kernels/stage.h"

namespace imgpipe {
namespace {

// clang-format off
constexpr std::array kStages{
    //     name        summary                                  writes              selectable grey   histogram alpha  in                   out
    Stage{"gray",     "colour to grey (--luma)",                Writes::pixels,     true,      true,  false,    true,  Layout::interleaved, Layout::planar,      gray_reference},
    Stage{"hist",     "256 counts for each colour plane",       Writes::statistics, true,      false, false,    false, Layout::planar,      Layout::planar,      hist_reference},
    Stage{"contrast", "min/max stretch (--clip, --stretch)",    Writes::pixels,     true,      false, true,     false, Layout::planar,      Layout::planar,      contrast_reference},
    Stage{"smooth",   "5x5 weighted mean (--window, --border)", Writes::pixels,     true,      false, false,    false, Layout::planar,      Layout::planar,      smooth_reference},
    Stage{"split",    "interleaved pixels to planes",           Writes::pixels,     false,     false, false,    true,  Layout::interleaved, Layout::planar,      split_reference},
    Stage{"merge",    "planes to interleaved pixels",           Writes::pixels,     false,     false, false,    true,  Layout::planar,      Layout::interleaved, merge_reference},
};
// clang-format on

}  // namespace

std::span<const Stage> stage_table() {
  return kStages;
}

const Stage* find_stage(std::string_view name) {
  const auto* stage = std::ranges::find(kStages, name, &Stage::name);
  return stage == kStages.end() ? nullptr : stage;
}

FrameShape output_shape(const Stage& stage, FrameShape in) {
  if (stage.grey_only) in.color_channels = 1;
  in.layout = stage.out;
  return in;
}

std::int64_t bytes_moved(const Stage& stage, const FrameShape& in, const FrameShape& out) {
  const std::int64_t alpha = stage.moves_alpha && in.alpha ? in.pixels() : 0;
  std::int64_t samples = in.color_samples() + alpha;
  if (stage.writes == Writes::pixels) samples += out.color_samples() + alpha;
  return samples * static_cast<std::int64_t>(sizeof(Sample));
}

}  // namespace imgpipe
