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

#ifdef IMGPIPE_WITH_CUDA
#define IMGPIPE_CUDA_STAGE(function) function
#else
#define IMGPIPE_CUDA_STAGE(function) nullptr
#endif

constexpr Layout kMixed = Layout::interleaved;
constexpr Layout kPlanar = Layout::planar;

// clang-format off
constexpr std::array kStages{
    //     name               summary                                 writes              select. grey   histog. alpha  reach    in       out      fuses                    reference           cpu           cuda
    Stage{"gray",            "colour to grey (--luma)",                Writes::pixels,     true,   true,  false,  true,  0,       kMixed,  kPlanar, {},                      gray_reference,     gray_cpu,     IMGPIPE_CUDA_STAGE(gray_cuda)},
    Stage{"hist",            "256 counts for each colour plane",       Writes::statistics, true,   false, false,  false, 0,       kPlanar, kPlanar, {},                      hist_reference,     hist_cpu,     IMGPIPE_CUDA_STAGE(hist_cuda)},
    Stage{"contrast",        "min/max stretch (--clip, --stretch)",    Writes::pixels,     true,   false, true,   false, 0,       kPlanar, kPlanar, {},                      contrast_reference, contrast_cpu, IMGPIPE_CUDA_STAGE(contrast_cuda)},
    Stage{"smooth",          "5x5 weighted mean (--window, --border)", Writes::pixels,     true,   false, false,  false, kRadius, kPlanar, kPlanar, {},                      smooth_reference,   smooth_cpu,   IMGPIPE_CUDA_STAGE(smooth_cuda)},
    Stage{"split",           "interleaved pixels to planes",           Writes::pixels,     false,  false, false,  true,  0,       kMixed,  kPlanar, {},                      split_reference,    split_cpu,    IMGPIPE_CUDA_STAGE(split_cuda)},
    Stage{"merge",           "planes to interleaved pixels",           Writes::pixels,     false,  false, false,  true,  0,       kPlanar, kMixed,  {},                      merge_reference,    merge_cpu,    IMGPIPE_CUDA_STAGE(merge_cuda)},
    Stage{"gray+hist",       "gray and hist in one pass",              Writes::both,       false,  true,  false,  true,  0,       kMixed,  kPlanar, {"gray", "hist"},        nullptr,            nullptr,      IMGPIPE_CUDA_STAGE(gray_hist_cuda)},
    Stage{"contrast+smooth", "contrast and smooth in one pass",        Writes::pixels,     false,  false, true,   false, kRadius, kPlanar, kPlanar, {"contrast", "smooth"},  nullptr,            nullptr,      IMGPIPE_CUDA_STAGE(contrast_smooth_cuda)},
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
  if (writes_pixels(stage.writes)) samples += out.color_samples() + alpha;
  return samples * static_cast<std::int64_t>(sizeof(Sample));
}

}  // namespace imgpipe
