#include <algorithm>
#include <array>

#include "kernels/append/append.h"
#include "kernels/arithmetic/arithmetic.h"
#include "kernels/box/box.h"
#include "kernels/channels/channels.h"
#include "kernels/clahe/clahe.h"
#include "kernels/colormap/colormap.h"
#include "kernels/contrast/contrast.h"
#include "kernels/crop/crop.h"
#include "kernels/crop/pad.h"
#include "kernels/crop/trim.h"
#include "kernels/depth/depth.h"
#include "kernels/enhance/enhance.h"
#include "kernels/equalize/equalize.h"
#include "kernels/flatten/flatten.h"
#include "kernels/flip/flip.h"
#include "kernels/gamma/gamma.h"
#include "kernels/gauss/gauss.h"
#include "kernels/gray/gray.h"
#include "kernels/hist/hist.h"
#include "kernels/icc/icc.h"
#include "kernels/invert/invert.h"
#include "kernels/layout/layout.h"
#include "kernels/levels/levels.h"
#include "kernels/median/median.h"
#include "kernels/morphology/morphology.h"
#include "kernels/normalize/normalize.h"
#include "kernels/over/over.h"
#include "kernels/posterize/posterize.h"
#include "kernels/resize/resize.h"
#include "kernels/rotate/rotate.h"
#include "kernels/sharpen/sharpen.h"
#include "kernels/smooth/smooth.h"
#include "kernels/sobel/sobel.h"
#include "kernels/stage.h"
#include "kernels/table/kernel_rows.h"
#include "kernels/table/stage_parameters.h"
#include "kernels/threshold/threshold.h"
#include "kernels/whitebalance/whitebalance.h"

namespace imgpipe {
namespace {

// An image with alpha: planar, interleaved, and in either layout.
constexpr std::array kAllPlanes{Port{.alpha = true}};
constexpr std::array kMixed{Port{.layout = Layout::interleaved, .alpha = true}};
constexpr std::array kAnyLayout{Port{.layout = {}, .alpha = true}};
constexpr std::array kCounts{Port{.name = "counts", .kind = ValueKind::counts}};
constexpr std::array kPlanesAndCounts{kAllPlanes[0], kCounts[0]};
constexpr std::array kColorAndCounts{Port{}, kCounts[0]};

constexpr std::array kTable{Port{.name = "table", .kind = ValueKind::table}};
constexpr Stage kStretchRanges{
    .ports = {kCounts, kTable},
    .table_bytes = stretch_ranges_bytes,
    .kernels = kTableKernels<kAny, stretch_ranges, IMGPIPE_ON_CUDA(stretch_ranges_cuda)>};
constexpr Stage kOtsuValues{
    .ports = {kCounts, kTable},
    .table_bytes = threshold_table_bytes,
    .kernels = kTableKernels<kSame, threshold_table, IMGPIPE_ON_CUDA(threshold_table_cuda)>};
constexpr Stage kEqualizeTables{
    .ports = {kCounts, kTable},
    .table_bytes = equalize_table_bytes,
    .kernels = kTableKernels<kSame, equalize_tables, IMGPIPE_ON_CUDA(equalize_tables_cuda)>};
constexpr Stage kClaheTables{.ports = {kColorPlanes, kTable},
                             .table_bytes = clahe_table_bytes,
                             .table_parts = clahe_table_parts,
                             .kernels = kTableKernels<kSame, clahe_table>};
constexpr Stage kBalanceTables{
    .ports = {kCounts, kTable},
    .table_bytes = whitebalance_table_bytes,
    .kernels = kBoth<kTableKernels<kSame, whitebalance_tables, IMGPIPE_ON_CUDA(whitebalance_tables_cuda)>,
                     kOfBytes<IMGPIPE_ON_CUDA(whitebalance_tables_cuda)>>};
// A table that depends only on type and parameters.
template <auto Bytes, auto Make, const auto& All = kSame>
constexpr Stage kConstant{.ports = {{}, kTable}, .table_bytes = Bytes, .kernels = kTableKernels<All, Make>};

template <const Stage& Maker, bool (*IsRead)(const Parameters&) = nullptr>
constexpr Port kTableOf{.name = "table", .kind = ValueKind::table, .made_by = &Maker, .is_read = IsRead};
template <const Stage& Maker>
constexpr std::array kColorAndTable{Port{}, kTableOf<Maker>};
// The counts, or a table made from them.
template <const Stage& Maker, bool (*IsRead)(const Parameters&) = nullptr>
constexpr std::array kColorAndCounted{
    Port{}, Port{.name = "counts", .kind = ValueKind::counts, .is_read = IsRead}, kTableOf<Maker, IsRead>};
constexpr std::array kColorAndBalance{
    Port{}, Port{.name = "counts", .kind = ValueKind::counts, .is_read = is_gray_world},
    kTableOf<kBalanceTables, is_gray_world>,
    Port{.name = "factors",
         .kind = ValueKind::table,
         .made_by = &kConstant<whitebalance_table_bytes, whitebalance_tables>,
         .is_read = has_balance_factors}};
constexpr std::array kPlanesAndWeights{kAllPlanes[0],
                                       kTableOf<kConstant<resize_table_bytes, resize_table, kSameAndFloats>>};
constexpr std::array kAnyLayoutAndElements{
    kAnyLayout[0], kTableOf<kConstant<normalize_table_bytes, normalize_table, kToTensors>>};

constexpr std::array kPlanesAndColors{kAllPlanes[0],
                                      kTableOf<kConstant<colormap_table_bytes, colormap_table, kToBytes>>};
// A second image of any size, which may have alpha.
constexpr std::array kAllPlanesAndOverlay{kAllPlanes[0],
                                          Port{.name = "table",
                                               .kind = ValueKind::table,
                                               .alpha = true,
                                               .made_by = &kConstant<second_image_bytes, copy_second_image>,
                                               .placed = true}};

// The table of an ICC profile, as a second image (pipeline/color_profiles.h).
constexpr std::array kAllPlanesAndProfile{kAllPlanes[0],
                                          kTableOf<kConstant<second_image_bytes, copy_second_image>>};
// A second image of the same size with any number of channels.
constexpr std::array kAllPlanesAndAppended{
    kAllPlanes[0], Port{.name = "table",
                        .kind = ValueKind::table,
                        .alpha = true,
                        .made_by = &kConstant<second_image_bytes, copy_second_image, kSameAndFloats>,
                        .appended = true}};

// Arithmetic with a number or a second image.
template <Arithmetic Op>
constexpr std::array kColorAndOperand =
    kColorAndTable<kConstant<arithmetic_table_bytes, arithmetic_table<Op>, kSameAndFloats>>;
// With a number, samples are looked up in a table by gamma's kernels.
template <auto Function, auto Gamma, class... More>
constexpr auto kByOperand = &by_operand<Function, Gamma, More...>;
template <Arithmetic Op>
constexpr std::array kArithmeticKernels =
    kBoth<kKernels<kSame, kByOperand<arithmetic_reference<Op>, gamma_reference, Host>,
                   kByOperand<arithmetic_cpu<Op>, gamma_cpu, Host, Band>,
                   IMGPIPE_ON_CUDA((kByOperand<arithmetic_cuda<Op>, gamma_cuda, Device, CudaLaunch>)),
                   IMGPIPE_ON_CUDA((kByOperand<arithmetic16_cuda<Op>, gamma16_cuda, Device, CudaLaunch>))>,
          kKernels<kFloats, arithmetic_f32_reference<Op>, arithmetic_f32_cpu<Op>,
                   IMGPIPE_ON_CUDA(arithmetic_f32_cuda<Op>)>>;
template <Arithmetic Op>
constexpr Stage arithmetic(std::string_view name, std::string_view summary,
                           std::span<const Parameter> parameters = kArithmeticParameters,
                           std::string_view (*problem)(const Parameters&) = nullptr) {
  return {.name = name,
          .summary = summary,
          .parameters = parameters,
          .ports = {.in = kColorAndOperand<Op>},
          .by_row = true,
          .maps_samples = true,
          .problem = problem,
          .skip_reason = arithmetic_skip_reason<Op>,
          .kernels = kArithmeticKernels<Op>};
}

// For members of Stage that do not depend on the parameters.
constexpr bool always(const Parameters&) {
  return true;
}

constexpr bool any_rgb(const FrameType& /*in*/, const Parameters& /*parameters*/) {
  return true;
}

// fit=contain resizes to a size within the canvas.
StageAndParameters canvas_of_resize(const Parameters& parameters) {
  const ResizeParameters resize(parameters);
  if (resize.fit != ResizeFit::contain) return {};
  const auto center = static_cast<std::int64_t>(PadPosition::center);
  return {find_stage("pad"), {{resize.width, resize.height, resize.background, center}}};
}

constexpr std::array kStages{
    Stage{.name = "gray",
          .summary = "colour to grey",
          .parameters = kGrayParameters,
          .ports = {kMixed, kAllPlanes},
          .skip_reason = gray_skip_reason,
          .infer = gray_infer,
          .kernels = IMGPIPE_KERNELS_16(kSame, gray)},
    Stage{.name = "rgb",
          .summary = "grey to colour, alpha dropped",
          .ports = {kAllPlanes, kColorPlanes},
          .skip_reason = rgb_skip_reason,
          .infer = rgb_infer,
          .kernels = IMGPIPE_KERNELS_MOVES(channels)},
    Stage{.name = "flatten",
          .summary = "alpha composition on a colour",
          .parameters = kFlattenParameters,
          .ports = {kAllPlanes, kColorPlanes},
          .problem = flatten_problem,
          .skip_reason = flatten_skip_reason,
          .infer = flatten_infer,
          .kernels = IMGPIPE_KERNELS(kSame, flatten)},
    Stage{.name = "channel",
          .summary = "one channel as a grey image",
          .parameters = kChannelParameters,
          .ports = {kAllPlanes, kColorPlanes},
          .skip_reason = channel_skip_reason,
          .infer = channel_infer,
          .kernels = IMGPIPE_KERNELS_MOVES(channels)},
    Stage{.name = "hist",
          .summary = "histogram of each colour plane",
          .parameters = kHistParameters,
          .ports = {.in = kColorAndTable<kConstant<hist_table_bytes, hist_table, kFloats>>, .out = kCounts},
          .maps_samples = true,
          .problem = hist_problem,
          .infer = hist_infer,
          .kernels = kBoth<IMGPIPE_KERNELS_16(kSame, hist), IMGPIPE_KERNELS_F32(hist)>},
    Stage{.name = "contrast",
          .summary = "min/max stretch",
          .parameters = kContrastParameters,
          .ports = {.in = kColorAndCounted<kStretchRanges>},
          .maps_samples = true,
          .sums_planes = contrast_sums_planes,
          .infer = contrast_infer,
          .kernels = IMGPIPE_KERNELS_16(kAny, contrast)},
    Stage{.name = "smooth",
          .summary = "5x5 weighted mean",
          .parameters = kSmoothParameters,
          .rgb_on_cpu = any_rgb,
          .needs = smooth_needs,
          .kernels = kBoth<IMGPIPE_KERNELS_16(kSame, smooth), IMGPIPE_KERNELS_F32(smooth)>},
    Stage{.name = "threshold",
          .summary = "black and white by a threshold",
          .parameters = kThresholdParameters,
          .ports = {.in = kColorAndCounted<kOtsuValues, threshold_reads_counts>},
          .maps_samples = true,
          .infer = threshold_infer,
          .kernels = IMGPIPE_KERNELS_16(kSame, threshold)},
    Stage{.name = "invert",
          .summary = "negative",
          .maps_samples = true,
          .kernels = kBoth<IMGPIPE_KERNELS(kSame, invert), IMGPIPE_KERNELS_F32(invert)>},
    Stage{.name = "gamma",
          .summary = "gamma correction",
          .parameters = kGammaParameters,
          .ports = {.in = kColorAndTable<kConstant<gamma_table_bytes, gamma_table>>},
          .maps_samples = true,
          .skip_reason = gamma_skip_reason,
          .kernels = kBoth<IMGPIPE_KERNELS_16(kSame, gamma), IMGPIPE_KERNELS_F32(gamma)>},
    // The integer functions are gamma's, with another table.
    Stage{.name = "levels",
          .summary = "stretch of a given range",
          .parameters = kLevelsParameters,
          .ports = {.in = kColorAndTable<kConstant<levels_table_bytes, levels_table>>},
          .maps_samples = true,
          .problem = levels_problem,
          .skip_reason = levels_skip_reason,
          .infer = levels_infer,
          .kernels = kBoth<IMGPIPE_KERNELS_16(kSame, gamma), IMGPIPE_KERNELS_F32(levels)>},
    arithmetic<Arithmetic::add>("add", "sum with a number or image"),
    arithmetic<Arithmetic::subtract>("subtract", "difference from a number or image"),
    arithmetic<Arithmetic::multiply>("multiply", "product with a number or image", kMultiplyParameters,
                                     multiply_problem),
    arithmetic<Arithmetic::divide>("divide", "quotient by a number or image", kDivideParameters,
                                   divide_problem),
    arithmetic<Arithmetic::min>("min", "darker of the image and a number or image"),
    arithmetic<Arithmetic::max>("max", "lighter of the image and a number or image"),
    arithmetic<Arithmetic::absdiff>("absdiff", "absolute difference from a number or image"),
    arithmetic<Arithmetic::mask>("mask", "black where another image is black", kMaskParameters),
    Stage{.name = "append",
          .summary = "the channels of another image appended",
          .parameters = kAppendParameters,
          .ports = {kAllPlanesAndAppended, kAllPlanes},
          .by_row = true,
          .infer = append_infer,
          .kernels = IMGPIPE_KERNELS_MOVES(append)},
    Stage{.name = "over",
          .summary = "another image on top",
          .parameters = kOverParameters,
          .ports = {kAllPlanesAndOverlay, kAllPlanes},
          .by_row = true,
          .skip_reason = over_skip_reason,
          .kernels = IMGPIPE_KERNELS(kSame, over)},
    Stage{.name = "resize",
          .summary = "scaling to another size",
          .parameters = kResizeParameters,
          .ports = {kPlanesAndWeights, kAllPlanes},
          .by_row = true,
          .rgb_on_cpu = resize_rgb_on_cpu,
          .problem = resize_problem,
          .skip_reason = resize_skip_reason,
          .infer = resize_infer,
          .followed_by = canvas_of_resize,
          .needs = resize_needs,
          .kernels = kBoth<IMGPIPE_KERNELS(kSame, resize), IMGPIPE_KERNELS_F32(resize)>},
    Stage{.name = "depth",
          .summary = "8 or 16 bits per sample, or floats",
          .parameters = kDepthParameters,
          .ports = {kAnyLayout, kAnyLayout},
          .skip_reason = depth_skip_reason,
          .infer = depth_infer,
          .kernels =
              kBoth<IMGPIPE_KERNELS(kOther, depth),
                    kKernels<kFloatAndOther, depth_reference, depth_cpu, IMGPIPE_ON_CUDA(depth_f32_cuda)>>},
    Stage{.name = "crop",
          .summary = "crop to a rectangle",
          .parameters = kCropParameters,
          .ports = {kAnyLayout, kAnyLayout},
          .effect = Effect::cuts,
          .by_row = true,
          .skip_reason = crop_skip_reason,
          .infer = crop_infer,
          .needs = crop_needs,
          .kernels = IMGPIPE_KERNELS_MOVES(crop)},
    Stage{.name = "trim",
          .summary = "crop to what differs from the background",
          .parameters = kTrimParameters,
          .ports = {kAnyLayout, kAnyLayout},
          .effect = Effect::cuts,
          .skip_reason = trim_skip_reason,
          .kernels = IMGPIPE_KERNELS(kSame, crop)},
    Stage{.name = "pad",
          .summary = "larger canvas of one colour",
          .parameters = kPadParameters,
          .ports = {kAnyLayout, kAnyLayout},
          .effect = Effect::cuts,
          .by_row = true,
          .skip_reason = pad_skip_reason,
          .infer = pad_infer,
          .needs = pad_needs,
          .kernels = IMGPIPE_KERNELS_MOVES(pad)},
    Stage{.name = "flip",
          .summary = "mirror image",
          .parameters = kFlipParameters,
          .ports = {kAnyLayout, kAnyLayout},
          .effect = Effect::turns,
          .needs_all_rows = flip_needs_all_rows,
          .kernels = IMGPIPE_KERNELS_MOVES(flip)},
    Stage{.name = "rotate",
          .summary = "rotation by right angles",
          .parameters = kRotateParameters,
          .ports = {kAnyLayout, kAnyLayout},
          .effect = Effect::turns,
          .infer = rotate_infer,
          .needs_all_rows = always,
          .kernels = IMGPIPE_KERNELS_MOVES(rotate)},
    Stage{.name = "equalize",
          .summary = "histogram equalisation",
          .ports = {.in = kColorAndCounted<kEqualizeTables>},
          .kernels = IMGPIPE_KERNELS_16(kSame, equalize)},
    Stage{.name = "clahe",
          .summary = "contrast-limited adaptive histogram equalisation",
          .parameters = kClaheParameters,
          .ports = {.in = kColorAndTable<kClaheTables>},
          .infer = clahe_infer,
          .needs_all_rows = always,
          .scratch_bytes = clahe_scratch_bytes,
          .kernels = IMGPIPE_KERNELS_16(kSame, clahe)},
    Stage{.name = "median",
          .summary = "median of a window",
          .parameters = kMedianParameters,
          .rgb_on_cpu = median_rgb_on_cpu,
          .needs = median_needs,
          .kernels = IMGPIPE_KERNELS(kSame, median)},
    Stage{.name = "sobel",
          .summary = "gradient magnitude",
          .parameters = kSobelParameters,
          .needs = sobel_needs,
          .kernels = IMGPIPE_KERNELS(kSame, sobel)},
    Stage{.name = "box",
          .summary = "mean of a window of any radius",
          .parameters = kBoxParameters,
          .rgb_on_cpu = any_rgb,
          .needs = box_needs,
          .kernels = IMGPIPE_KERNELS(kSame, box)},
    Stage{.name = "gauss",
          .summary = "Gaussian blur, by sigma",
          .parameters = kGaussParameters,
          .ports = {.in = kColorAndTable<kConstant<gauss_table_bytes, gauss_table>>},
          .needs = gauss_needs,
          .kernels = IMGPIPE_KERNELS(kSame, gauss)},
    Stage{.name = "sharpen",
          .summary = "unsharp mask",
          .parameters = kSharpenParameters,
          .ports = {.in = kColorAndTable<kConstant<sharpen_table_bytes, sharpen_table>>},
          .skip_reason = sharpen_skip_reason,
          .needs = sharpen_needs,
          .kernels = IMGPIPE_KERNELS(kSame, sharpen)},
    Stage{.name = "erode",
          .summary = "minimum of a window",
          .parameters = kMorphologyParameters,
          .rgb_on_cpu = morphology_rgb_on_cpu,
          .needs = morphology_needs,
          .kernels = IMGPIPE_KERNELS(kSame, erode)},
    Stage{.name = "dilate",
          .summary = "maximum of a window",
          .parameters = kMorphologyParameters,
          .rgb_on_cpu = morphology_rgb_on_cpu,
          .needs = morphology_needs,
          .kernels = IMGPIPE_KERNELS(kSame, dilate)},
    Stage{.name = "tophat",
          .summary = "details smaller than a window",
          .parameters = kTopHatParameters,
          .needs = tophat_needs,
          .scratch_bytes = tophat_scratch_bytes,
          .kernels = IMGPIPE_KERNELS(kSame, tophat)},
    // The functions of this stage and the next are gamma's, with another table.
    Stage{.name = "posterize",
          .summary = "highest bits of each sample",
          .parameters = kPosterizeParameters,
          .ports = {.in = kColorAndTable<kConstant<gamma_table_bytes, posterize_table>>},
          .maps_samples = true,
          .skip_reason = posterize_skip_reason,
          .kernels = IMGPIPE_KERNELS_16(kSame, gamma)},
    Stage{.name = "brightness",
          .summary = "samples times a factor, as Pillow",
          .parameters = kBrightnessParameters,
          .ports = {.in = kColorAndTable<kConstant<gamma_table_bytes, brightness_table>>},
          .maps_samples = true,
          .skip_reason = brightness_skip_reason,
          .kernels = IMGPIPE_KERNELS_16(kSame, gamma)},
    Stage{.name = "saturation",
          .summary = "distance of colours from grey",
          .parameters = kSaturationParameters,
          .skip_reason = saturation_skip_reason,
          .kernels = IMGPIPE_KERNELS(kSame, saturation)},
    // The functions that look up a table for each plane are equalize's.
    Stage{.name = "whitebalance",
          .summary = "neutral colours by factors",
          .parameters = kWhiteBalanceParameters,
          .ports = {.in = kColorAndBalance},
          .problem = whitebalance_problem,
          .skip_reason = whitebalance_skip_reason,
          .kernels = kKernels<kSame, whitebalance_reference, equalize_cpu, IMGPIPE_ON_CUDA(whitebalance_cuda),
                              IMGPIPE_ON_CUDA(equalize16_cuda)>},
    Stage{.name = "colormap",
          .summary = "grey to false colours, alpha dropped",
          .parameters = kColorMapParameters,
          .ports = {kPlanesAndColors, kColorPlanes},
          .infer = colormap_infer,
          .kernels = IMGPIPE_KERNELS(kToBytes, colormap)},
    Stage{.name = "icc",
          .summary = "colours of the ICC profile to sRGB",
          .parameters = kIccParameters,
          .ports = {kAllPlanesAndProfile, kAllPlanes},
          .skip_reason = icc_skip_reason,
          .infer = icc_infer,
          .kernels = IMGPIPE_KERNELS(kSame, icc)},
    Stage{.name = "normalize",
          .summary = "tensor for a vision model",
          .parameters = kNormalizeParameters,
          .ports = {kAnyLayoutAndElements, kAnyLayout},
          .problem = normalize_problem,
          .infer = normalize_infer,
          .tensor = normalize_tensor,
          .needs_all_rows = normalize_needs_all_rows,
          .kernels = IMGPIPE_KERNELS(kToTensors, normalize)},
    Stage{.name = "split",
          .summary = "interleaved pixels to planes",
          .selectable = false,
          .ports = {kMixed, kAllPlanes},
          .effect = Effect::layout,
          .kernels = IMGPIPE_KERNELS_MOVES(split)},
    Stage{.name = "merge",
          .summary = "planes to interleaved pixels",
          .selectable = false,
          .ports = {kAllPlanes, kMixed},
          .effect = Effect::layout,
          .kernels = IMGPIPE_KERNELS_MOVES(merge)},
};

constexpr Stage kGrayAndHist{.name = "gray+hist",
                             .ports = {kMixed, kPlanesAndCounts},
                             .infer = gray_infer,
                             .kernels = kOfBytes<IMGPIPE_ON_CUDA(gray_hist_cuda)>};
constexpr Stage kContrastAndSmooth{.name = "contrast+smooth",
                                   .ports = {.in = kColorAndCounts},
                                   .kernels = kOfBytes<IMGPIPE_ON_CUDA(contrast_smooth_cuda)>};
constexpr std::array<std::string_view, 2> kGrayHist{"gray", "hist"}, kContrastSmooth{"contrast", "smooth"};
constexpr std::array kFusions{Fusion{kGrayHist, &kGrayAndHist}, Fusion{kContrastSmooth, &kContrastAndSmooth},
                              Fusion{kGrayHist}, Fusion{std::span(kGrayHist).first<1>()},
                              Fusion{std::span(kGrayHist).last<1>()}};
static_assert(kContrastParameters.size() == ContrastParameters::kCount);

static_assert(std::ranges::all_of(kStages,
                                  [](const Stage& stage) {
                                    return std::ranges::count(stage.ports.in, ValueKind::pixels,
                                                              &Port::kind) == 1;
                                  }),
              "a second image is a table: docs/hacking.md, A second image");

}  // namespace

std::span<const Stage> stage_table() {
  return kStages;
}

std::span<const Fusion> fusion_table() {
  return kFusions;
}

}  // namespace imgpipe
