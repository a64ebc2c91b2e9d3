#include <algorithm>
#include <array>

#include "kernels/box/box.h"
#include "kernels/clahe/clahe.h"
#include "kernels/contrast/contrast.h"
#include "kernels/crop/crop.h"
#include "kernels/depth/depth.h"
#include "kernels/equalize/equalize.h"
#include "kernels/flip/flip.h"
#include "kernels/gamma/gamma.h"
#include "kernels/gauss/gauss.h"
#include "kernels/gray/gray.h"
#include "kernels/hist/hist.h"
#include "kernels/invert/invert.h"
#include "kernels/layout/layout.h"
#include "kernels/levels/levels.h"
#include "kernels/median/median.h"
#include "kernels/resize/resize.h"
#include "kernels/rotate/rotate.h"
#include "kernels/sharpen/sharpen.h"
#include "kernels/smooth/smooth.h"
#include "kernels/sobel/sobel.h"
#include "kernels/stage.h"
#include "kernels/table/stage_parameters.h"
#include "kernels/threshold/threshold.h"

namespace imgpipe {
namespace {

#ifdef IMGPIPE_WITH_CUDA
#define IMGPIPE_ON_CUDA(function) function
#else
#define IMGPIPE_ON_CUDA(function) nullptr
#endif
#define IMGPIPE_FUNCTIONS(name) \
  { name##_reference, name##_cpu, IMGPIPE_ON_CUDA(name##_cuda) }
// Where CUDA has a function of its own for samples of 16 bits.
#define IMGPIPE_FUNCTIONS_16(name) \
  { name##_reference, name##_cpu, IMGPIPE_ON_CUDA(name##16_cuda) }

constexpr Layout kMixed = Layout::interleaved;

constexpr std::array kStages{
    Stage{.name = "gray",
          .summary = "colour to grey",
          .parameters = kGrayParameters,
          .color_only = false,
          .in = kMixed,
          .needless = gray_needless,
          .output = gray_output,
          .u8 = IMGPIPE_FUNCTIONS(gray),
          .u16 = IMGPIPE_FUNCTIONS_16(gray)},
    Stage{.name = "hist",
          .summary = "counts of each value in each colour plane",
          .writes_pixels = false,
          .counts = true,
          .u8 = IMGPIPE_FUNCTIONS(hist),
          .u16 = IMGPIPE_FUNCTIONS_16(hist)},
    Stage{.name = "contrast",
          .summary = "min/max stretch",
          .parameters = kContrastParameters,
          .reads_histogram = contrast_reads_histogram,
          .output = contrast_output,
          .found_bytes = contrast_found_bytes,
          .find = contrast_find,
          .u8 = IMGPIPE_FUNCTIONS(contrast),
          .u16 = IMGPIPE_FUNCTIONS_16(contrast)},
    Stage{.name = "smooth",
          .summary = "5x5 weighted mean",
          .parameters = kSmoothParameters,
          .needs = smooth_needs,
          .u8 = IMGPIPE_FUNCTIONS(smooth),
          .u16 = IMGPIPE_FUNCTIONS_16(smooth)},
    Stage{.name = "threshold",
          .summary = "black and white",
          .parameters = kThresholdParameters,
          .reads_histogram = threshold_reads_histogram,
          .misfit = threshold_misfit,
          .found_bytes = threshold_found_bytes,
          .find = threshold_find,
          .u8 = IMGPIPE_FUNCTIONS(threshold),
          .u16 = IMGPIPE_FUNCTIONS_16(threshold)},
    Stage{.name = "invert",
          .summary = "the negative",
          .u8 = IMGPIPE_FUNCTIONS(invert),
          .u16 = IMGPIPE_FUNCTIONS(invert)},
    Stage{.name = "gamma",
          .summary = "brighter or darker in the middle",
          .parameters = kGammaParameters,
          .needless = gamma_needless,
          .prepared_bytes = gamma_prepared_bytes,
          .prepare = gamma_prepare,
          .u8 = IMGPIPE_FUNCTIONS(gamma),
          .u16 = IMGPIPE_FUNCTIONS_16(gamma)},
    // Its functions are gamma's, with another table.
    Stage{.name = "levels",
          .summary = "contrast with a given range",
          .parameters = kLevelsParameters,
          .problem = levels_problem,
          .needless = levels_needless,
          .prepared_bytes = levels_prepared_bytes,
          .prepare = levels_prepare,
          .u8 = IMGPIPE_FUNCTIONS(gamma),
          .u16 = IMGPIPE_FUNCTIONS_16(gamma)},
    Stage{.name = "resize",
          .summary = "another size",
          .parameters = kResizeParameters,
          .color_only = false,
          .by_row = true,
          .problem = resize_problem,
          .needless = resize_needless,
          .output = resize_output,
          .needs = resize_needs,
          .prepared_bytes = resize_prepared_bytes,
          .prepare = resize_prepare,
          .u8 = IMGPIPE_FUNCTIONS(resize),
          .u16 = IMGPIPE_FUNCTIONS(resize)},
    Stage{.name = "depth",
          .summary = "8 or 16 bits a sample",
          .parameters = kDepthParameters,
          .color_only = false,
          .any_layout = true,
          .needless = depth_needless,
          .output = depth_output,
          .u8 = IMGPIPE_FUNCTIONS(depth),
          .u16 = IMGPIPE_FUNCTIONS(depth)},
    Stage{.name = "crop",
          .summary = "a rectangle of it",
          .parameters = kCropParameters,
          .color_only = false,
          .any_layout = true,
          .moves_pixels = true,
          .takes_rectangle = true,
          .by_row = true,
          .needless = crop_needless,
          .misfit = crop_misfit,
          .output = crop_output,
          .needs = crop_needs,
          .u8 = IMGPIPE_FUNCTIONS(crop),
          .u16 = IMGPIPE_FUNCTIONS(crop)},
    Stage{.name = "flip",
          .summary = "mirrored",
          .parameters = kFlipParameters,
          .color_only = false,
          .any_layout = true,
          .moves_pixels = true,
          .needs_all_rows = flip_needs_all_rows,
          .u8 = IMGPIPE_FUNCTIONS(flip),
          .u16 = IMGPIPE_FUNCTIONS(flip)},
    Stage{.name = "rotate",
          .summary = "turned by right angles",
          .parameters = kRotateParameters,
          .color_only = false,
          .any_layout = true,
          .moves_pixels = true,
          .output = rotate_output,
          .needs_all_rows = rotate_needs_all_rows,
          .u8 = IMGPIPE_FUNCTIONS(rotate),
          .u16 = IMGPIPE_FUNCTIONS(rotate)},
    Stage{.name = "equalize",
          .summary = "histogram equalisation",
          .reads_histogram = equalize_reads_histogram,
          .found_bytes = equalize_found_bytes,
          .find = equalize_find,
          .u8 = IMGPIPE_FUNCTIONS(equalize),
          .u16 = IMGPIPE_FUNCTIONS_16(equalize)},
    Stage{.name = "clahe",
          .summary = "contrast-limited adaptive histogram equalisation",
          .parameters = kClaheParameters,
          .misfit = clahe_misfit,
          .needs_all_rows = clahe_needs_all_rows,
          .found_bytes = clahe_found_bytes,
          .find_parts = clahe_find_parts,
          .find_part = clahe_find_part,
          .finds_bytes = clahe_finds_bytes,
          .u8 = IMGPIPE_FUNCTIONS(clahe),
          .u16 = IMGPIPE_FUNCTIONS_16(clahe)},
    Stage{.name = "median",
          .summary = "the middle one of a window's samples",
          .parameters = kMedianParameters,
          .needs = median_needs,
          .u8 = IMGPIPE_FUNCTIONS(median),
          .u16 = IMGPIPE_FUNCTIONS(median)},
    Stage{.name = "sobel",
          .summary = "the gradient's size",
          .parameters = kSobelParameters,
          .needs = sobel_needs,
          .u8 = IMGPIPE_FUNCTIONS(sobel),
          .u16 = IMGPIPE_FUNCTIONS(sobel)},
    Stage{.name = "box",
          .summary = "the mean of a window of any radius",
          .parameters = kBoxParameters,
          .needs = box_needs,
          .u8 = IMGPIPE_FUNCTIONS(box),
          .u16 = IMGPIPE_FUNCTIONS(box)},
    Stage{.name = "gauss",
          .summary = "blurred, by sigma",
          .parameters = kGaussParameters,
          .needs = gauss_needs,
          .prepared_bytes = gauss_prepared_bytes,
          .prepare = gauss_prepare,
          .u8 = IMGPIPE_FUNCTIONS(gauss),
          .u16 = IMGPIPE_FUNCTIONS(gauss)},
    Stage{.name = "sharpen",
          .summary = "unsharp mask",
          .parameters = kSharpenParameters,
          .needless = sharpen_needless,
          .needs = sharpen_needs,
          .prepared_bytes = sharpen_prepared_bytes,
          .prepare = sharpen_prepare,
          .u8 = IMGPIPE_FUNCTIONS(sharpen),
          .u16 = IMGPIPE_FUNCTIONS(sharpen)},
    Stage{.name = "split",
          .summary = "interleaved pixels to planes",
          .selectable = false,
          .color_only = false,
          .in = kMixed,
          .u8 = IMGPIPE_FUNCTIONS(split),
          .u16 = IMGPIPE_FUNCTIONS(split)},
    Stage{.name = "merge",
          .summary = "planes to interleaved pixels",
          .selectable = false,
          .color_only = false,
          .out = kMixed,
          .u8 = IMGPIPE_FUNCTIONS(merge),
          .u16 = IMGPIPE_FUNCTIONS(merge)},
    Stage{.name = "gray+hist",
          .summary = "gray and hist in one pass",
          .selectable = false,
          .counts = true,
          .color_only = false,
          .in = kMixed,
          .fuses = {"gray", "hist"},
          .output = gray_output,
          .u8 = {.cuda = IMGPIPE_ON_CUDA(gray_hist_cuda)}},
    Stage{.name = "contrast+smooth",
          .summary = "contrast and smooth in one pass",
          .selectable = false,
          .fuses = {"contrast", "smooth"},
          .reads_histogram = contrast_reads_histogram,
          .u8 = {.cuda = IMGPIPE_ON_CUDA(contrast_smooth_cuda)}},
};

}  // namespace

std::span<const Stage> stage_table() {
  return kStages;
}

const Stage* find_stage(std::string_view name) {
  const auto* stage = std::ranges::find(kStages, name, &Stage::name);
  return stage == kStages.end() ? nullptr : stage;
}

bool reads_histogram(const Stage& stage, const Parameters& parameters) {
  return stage.reads_histogram != nullptr && stage.reads_histogram(parameters);
}

bool needs_all_rows(const Stage& stage, const Parameters& parameters) {
  return stage.needs_all_rows != nullptr && stage.needs_all_rows(parameters);
}

FrameType output_type(const Stage& stage, const FrameType& in, const Parameters& parameters) {
  if (!stage.writes_pixels) return in;
  FrameType out = stage.output == nullptr ? in : stage.output(in, parameters);
  out.layout = stage.any_layout ? in.layout : stage.out;
  return out;
}

RowRange rows_needed(const Stage& stage, const FrameType& in, const Parameters& parameters, RowRange out) {
  if (needs_all_rows(stage, parameters)) return out.count() > 0 ? RowRange{0, in.height} : RowRange{};
  return stage.needs == nullptr ? out : stage.needs(in, parameters, out);
}

std::int64_t prepared_bytes(const Stage& stage, const FrameType& in, const Parameters& parameters) {
  return stage.prepared_bytes == nullptr ? 0 : stage.prepared_bytes(in, parameters);
}

std::int64_t found_bytes(const Stage& stage, const FrameType& in, const Parameters& parameters) {
  return stage.found_bytes == nullptr ? 0 : stage.found_bytes(in, parameters);
}

std::int64_t finds_bytes(const Stage& stage, const FrameType& in, const Parameters& parameters) {
  return stage.finds_bytes == nullptr ? found_bytes(stage, in, parameters)
                                      : stage.finds_bytes(in, parameters);
}

std::int64_t bytes_moved(const Stage& stage, const FrameType& in, const FrameType& out) {
  if (stage.moves_pixels) return 2 * out.bytes();
  if (!stage.writes_pixels) return in.color_bytes();
  const bool color = passes_alpha(stage, in, out);
  return color ? in.color_bytes() + out.color_bytes() : in.bytes() + out.bytes();
}

}  // namespace imgpipe
