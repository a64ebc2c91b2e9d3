// The parameters of every stage: names, values and presets, in alphabetical order of the stages. Words are in
// the order of the enumeration in the stage's header. Kernels do not include this file, so changing a text, a
// preset or a bound here does not recompile them. Bounds that kernels use are in the stages' headers.
#pragma once

#include <array>
#include <bit>

#include "kernels/arithmetic/arithmetic.h"
#include "kernels/box/box.h"
#include "kernels/channels/channels.h"
#include "kernels/clahe/clahe.h"
#include "kernels/contrast/contrast.h"
#include "kernels/crop/crop.h"
#include "kernels/crop/pad.h"
#include "kernels/crop/trim.h"
#include "kernels/flatten/flatten.h"
#include "kernels/gamma/gamma.h"
#include "kernels/gauss/gauss.h"
#include "kernels/levels/levels.h"
#include "kernels/normalize/normalize.h"
#include "kernels/over/over.h"
#include "kernels/parameters.h"
#include "kernels/pixel.h"
#include "kernels/resize/resize.h"
#include "kernels/shared/window_extremes.h"
#include "kernels/sharpen/sharpen.h"
#include "kernels/threshold/threshold.h"
#include "kernels/whitebalance/whitebalance.h"

namespace imgpipe {

template <std::int64_t Most>
inline constexpr Parameter kOperand{.name = "by",
                                    .help =
                                        "Number, or image of the same size, samples and channels, or of "
                                        "one channel",
                                    .kind = Parameter::Kind::operand,
                                    .most = Most,
                                    .required = true};
inline constexpr std::array kArithmeticParameters{kOperand<65535 * kDecimalOne>};
inline constexpr std::array kMultiplyParameters{kOperand<65535 * kDecimalOne>,
                                                Parameter{.name = "scale",
                                                          .help = "Factor of the product with an image",
                                                          .kind = Parameter::Kind::decimal,
                                                          .preset = kDecimalOne,
                                                          .most = kMaxProductScale}};
inline constexpr std::array<std::string_view, 1> kMeanWords{"mean"};
inline constexpr std::array kDivideParameters{
    kOperand<65535 * kDecimalOne>,
    Parameter{.name = "scale",
              .help = "Factor of the quotient by an image: number, or the image's mean; 1 for floats",
              .kind = Parameter::Kind::integer,
              .preset = kMeanScale,
              .least = 1,
              .most = kMaxQuotientScale,
              .words = kMeanWords}};
inline constexpr std::array kMaskParameters{
    Parameter{.name = "image",
              .help = "Image of the same size and samples: white keeps, black blackens",
              .kind = Parameter::Kind::image,
              .required = true}};

inline constexpr std::array kAppendParameters{
    Parameter{.name = "image",
              .help = "Image of the same size and samples; both have at most 4 channels together",
              .kind = Parameter::Kind::image,
              .required = true}};

inline constexpr std::array<std::string_view, 3> kBorderNames{"shrink", "replicate", "reflect"};  // as Border

inline constexpr std::array kBoxParameters{
    Parameter{.name = "radius",
              .help = "Pixels from the window's middle to its edge: 2 is 5x5",
              .kind = Parameter::Kind::integer,
              .preset = 2,
              .least = 1,
              .most = kMaxBoxRadius},
    Parameter{.name = "border",
              .help = "Pixels beyond the border: shrink (not counted), replicate, reflect",
              .words = kBorderNames},
};

inline constexpr std::array kBrightnessParameters{
    Parameter{.name = "factor",
              .help = "0 is black, 1 changes nothing, above 1 brightens",
              .kind = Parameter::Kind::decimal,
              .preset = kDecimalOne,
              .most = 100 * kDecimalOne,
              .required = true},
};

inline constexpr std::array<std::string_view, 4> kChannelWords{"r", "g", "b", "a"};  // as kRedChannel, ...
inline constexpr std::array kChannelParameters{
    Parameter{.name = "channel",
              .help = "Number of the channel, from 1, or its letter; alpha is the last",
              .kind = Parameter::Kind::integer,
              .least = 1,
              .most = 4,
              .words = kChannelWords,
              .required = true},
};

inline constexpr std::array kClaheParameters{
    Parameter{.name = "clip",
              .help = "Limit of each value's count, as a multiple of the mean count; 0: no limit",
              .kind = Parameter::Kind::decimal,
              .preset = 2 * kDecimalOne,
              .least = 0,
              .most = 65536 * kDecimalOne},
    Parameter{.name = "tiles",
              .help = "Tiles along each side of the image",
              .kind = Parameter::Kind::integer,
              .preset = 8,
              .least = 1,
              .most = kMaxTiles},
};

inline constexpr std::array<std::string_view, 3> kColorMapNames{"viridis", "magma", "turbo"};  // as ColorMap
inline constexpr std::array kColorMapParameters{
    Parameter{
        .name = "map",
        .help = "Colours from black to white: viridis, magma, turbo; or an image of 256 pixels in a line",
        .kind = Parameter::Kind::image,
        .words = kColorMapNames,
        .required = true},
};

inline constexpr std::array<std::string_view, 2> kStretchNames{"joint", "each"};      // as Stretch
inline constexpr std::array<std::string_view, 3> kStretchToNames{"same", "8", "16"};  // as StretchTo
inline constexpr std::array kContrastParameters{
    Parameter{.name = "clip",
              .help = "Percent of pixels that contrast may saturate at each end",
              .kind = Parameter::Kind::decimal,
              .most = kMaxClip,
              .option = "clip"},
    Parameter{.name = "clip-high",
              .help = "Percent of pixels at the bright end",
              .kind = Parameter::Kind::decimal,
              .most = kMaxClip,
              .like_previous = true},
    Parameter{.name = "stretch",
              .help = "Range of colour images: joint (one for all planes) or each (one per plane)",
              .words = kStretchNames,
              .option = "stretch"},
    Parameter{.name = "to", .help = "Bits of the stretched samples: same, 8, 16", .words = kStretchToNames},
};

inline constexpr std::array<std::string_view, 1> kCropOffsetWords{"center"}, kPaddingWords{"none"};
inline constexpr std::array<std::string_view, 2> kCenterRuleNames{"transformers",
                                                                  "torchvision"};  // as CenterRule
inline constexpr std::array kCropParameters{
    Parameter{.name = "width",
              .help = "Pixels",
              .kind = Parameter::Kind::integer,
              .least = 1,
              .most = kMaxSide,
              .required = true},
    Parameter{.name = "height",
              .help = "Rows",
              .kind = Parameter::Kind::integer,
              .least = 1,
              .most = kMaxSide,
              .required = true},
    Parameter{.name = "x",
              .help = "Pixels to the left of the rectangle",
              .kind = Parameter::Kind::integer,
              .preset = kCropCenter,
              .most = kMaxSide,
              .words = kCropOffsetWords},
    Parameter{.name = "y",
              .help = "Rows above the rectangle",
              .kind = Parameter::Kind::integer,
              .preset = kCropCenter,
              .most = kMaxSide,
              .words = kCropOffsetWords},
    Parameter{.name = "rule",
              .help = "Offset of a centred rectangle: transformers (half of the difference, rounded down), "
                      "torchvision (half to even)",
              .words = kCenterRuleNames},
    Parameter{.name = "pad",
              .help = "Colour of the pixels outside the image; none: the rectangle must be inside",
              .kind = Parameter::Kind::color,
              .preset = kNoPadding,
              .words = kPaddingWords},
};

inline constexpr std::array<std::string_view, 3> kDepthNames{"8", "16", "float"};  // as Sample
inline constexpr std::array kDepthParameters{
    Parameter{.name = "bits",
              .help = "Bits per sample, or float: 32 bits, white is 1",
              .words = kDepthNames,
              .required = true},
};

inline constexpr std::array<std::string_view, 2> kFlipDirectionNames{"horizontal", "vertical"};
inline constexpr std::array kFlipParameters{
    Parameter{.name = "direction",
              .help = "horizontal: left becomes right; vertical: the top becomes the bottom",
              .words = kFlipDirectionNames},
};

inline constexpr std::array kFlattenParameters{
    Parameter{.name = "color",
              .help = "Opaque colour that transparent pixels show",
              .kind = Parameter::Kind::color,
              .preset = kWhiteColor},
};

inline constexpr std::array kGammaParameters{
    Parameter{.name = "gamma",
              .help = "v becomes white (v/white)^(1/gamma): above 1 brightens, below 1 darkens",
              .kind = Parameter::Kind::decimal,
              .preset = kDecimalOne,
              .least = kDecimalOne / 100,
              .most = 100 * kDecimalOne,
              .required = true},
};

inline constexpr Parameter kSigmaParameter{
    .name = "sigma",
    .help = "Standard deviation in pixels; weights reach 3 times as far",
    .kind = Parameter::Kind::decimal,
    .preset = kDecimalOne,
    .least = kMinSigma,
    .most = kMaxSigma};
inline constexpr std::array<std::string_view, 2> kGaussBorderNames{"reflect", "replicate"};
inline constexpr std::array kGaussParameters{
    kSigmaParameter,
    Parameter{
        .name = "border", .help = "Pixels beyond the border: reflect, replicate", .words = kGaussBorderNames},
};

inline constexpr std::array<std::string_view, 3> kLumaNames{"bt601", "bt709", "opencv"};  // as Luma
inline constexpr std::array kGrayParameters{
    Parameter{.name = "luma",
              .help = "Grey formula: bt601 (as Pillow), bt709, opencv (as cvtColor)",
              .words = kLumaNames,
              .option = "luma"},
};

inline constexpr std::array<std::string_view, 3> kLevelsOfNames{"same", "8", "16"};  // as LevelsOf
inline constexpr std::array<std::string_view, 1> kIccTargetNames{"srgb"};
inline constexpr std::array<std::string_view, 3> kIccIntentNames{"perceptual", "relative",
                                                                 "saturation"};  // as IccIntent
inline constexpr std::array kIccParameters{
    Parameter{.name = "to", .help = "The colours of the result: srgb", .words = kIccTargetNames},
    Parameter{.name = "intent",
              .help = "Colours outside sRGB: perceptual, relative (black point compensation), saturation",
              .words = kIccIntentNames},
};

inline constexpr std::array kHistParameters{
    Parameter{.name = "lo", .help = "Floats: start of the first of 256 bins", .kind = Parameter::Kind::real},
    Parameter{.name = "hi",
              .help = "Floats: end of the last bin",
              .kind = Parameter::Kind::real,
              .preset = std::bit_cast<std::int64_t>(1.0)},
};

inline constexpr std::array kLevelsParameters{
    Parameter{.name = "lo",
              .help = "This value, and all below it, become 0; of integers 0 to 65535",
              .kind = Parameter::Kind::real,
              .most = max_sample(Sample::u16),
              .required = true},
    Parameter{.name = "hi",
              .help = "This value, and all above it, become the largest",
              .kind = Parameter::Kind::real,
              .most = max_sample(Sample::u16),
              .required = true},
    Parameter{.name = "of", .help = "Bit depth in which lo and hi are given", .words = kLevelsOfNames},
};

inline constexpr std::array<std::string_view, 7> kMedianSizes{"3", "5", "7", "9", "11", "13", "15"};
inline constexpr std::array kMedianParameters{
    Parameter{.name = "size", .help = "Pixels along a side of the window", .words = kMedianSizes},
};

// For erode and dilate.
inline constexpr std::array kMorphologyParameters{
    Parameter{.name = "radius",
              .help = "Pixels from the window's middle to its edge: 1 is 3x3",
              .kind = Parameter::Kind::integer,
              .preset = 1,
              .least = 1,
              .most = kMaxExtremeRadius},
};

inline constexpr std::array<std::string_view, 4> kNormalizePresetNames{"imagenet", "clip", "siglip",
                                                                       "custom"};  // as NormalizePreset
inline constexpr std::array<std::string_view, 1> kNormalizeNoneWord{"none"};
constexpr Parameter normalize_value(std::string_view name, std::string_view help, bool like_previous) {
  return {.name = name,
          .help = help,
          .kind = Parameter::Kind::real,
          .preset = kNormalizeNone,
          .words = kNormalizeNoneWord,
          .like_previous = like_previous};
}
inline constexpr std::array kNormalizeParameters{
    Parameter{.name = "preset",
              .help = "Mean and standard deviation of a family of models, or custom: mean and std",
              .preset = static_cast<std::int64_t>(NormalizePreset::custom),
              .words = kNormalizePresetNames},
    normalize_value("mean", "Mean of samples from 0 to 1; three values R/G/B, or one for all channels",
                    false),
    normalize_value("mean-2", "Mean of the second channel", true),
    normalize_value("mean-3", "Mean of the third channel", true),
    normalize_value("std", "Standard deviation, not 0; three values R/G/B, or one for all channels", false),
    normalize_value("std-2", "Standard deviation of the second channel", true),
    normalize_value("std-3", "Standard deviation of the third channel", true),
    Parameter{.name = "dtype",
              .help = "Type of the elements: float32, float16, bfloat16",
              .words = kTensorSampleNames},
    Parameter{.name = "layout",
              .help = "Order of the axes: nchw (one plane per channel), nhwc (interleaved channels)",
              .words = kTensorLayoutNames},
    Parameter{.name = "formula",
              .help = "The library whose arithmetic decides the last bit of each element",
              .words = kTensorFormulaNames},
};

inline constexpr std::array<std::string_view, 9> kOverPositionNames{
    "northwest", "north",     "northeast", "west",     "center",
    "east",      "southwest", "south",     "southeast"};  // as OverPosition
inline constexpr std::array kOverParameters{
    Parameter{.name = "image",
              .help = "Image of any size with the same samples; parts outside are cut",
              .kind = Parameter::Kind::image,
              .required = true},
    Parameter{.name = "position",
              .help = "Edge or corner at which it lies, or center",
              .words = kOverPositionNames},
    Parameter{.name = "x",
              .help = "Pixels from that edge inwards, outwards if negative; right of a centre",
              .kind = Parameter::Kind::integer,
              .least = -kMaxSide,
              .most = kMaxSide},
    Parameter{.name = "y",
              .help = "Rows from that edge inwards, outwards if negative; below a centre",
              .kind = Parameter::Kind::integer,
              .least = -kMaxSide,
              .most = kMaxSide},
    Parameter{.name = "opacity",
              .help = "Factor of its alpha",
              .kind = Parameter::Kind::decimal,
              .preset = kDecimalOne,
              .most = kDecimalOne},
};

inline constexpr std::array<std::string_view, 9> kPadPositionNames{
    "center",   "left",      "right",       "top",         "bottom",
    "top-left", "top-right", "bottom-left", "bottom-right"};  // as PadPosition
inline constexpr std::array kPadParameters{
    Parameter{.name = "width",
              .help = "Pixels, at least the image's",
              .kind = Parameter::Kind::integer,
              .least = 1,
              .most = kMaxSide,
              .required = true},
    Parameter{.name = "height",
              .help = "Rows, at least the image's",
              .kind = Parameter::Kind::integer,
              .least = 1,
              .most = kMaxSide,
              .required = true},
    Parameter{.name = "color",
              .help = "Colour of the new pixels",
              .kind = Parameter::Kind::color,
              .required = true},
    Parameter{.name = "position", .help = "Position of the image", .words = kPadPositionNames},
};

inline constexpr std::array kPosterizeParameters{
    Parameter{.name = "bits",
              .help = "Number of highest bits to keep of each sample",
              .kind = Parameter::Kind::integer,
              .least = 1,
              .most = 8,
              .required = true},
};

inline constexpr std::array<std::string_view, 8> kResizeMethodNames{
    "linear", "area", "nearest", "box", "bilinear", "hamming", "bicubic", "lanczos"};
inline constexpr std::array<std::string_view, 4> kResizeFitNames{"exact", "inside", "cover", "contain"};
inline constexpr std::array<std::string_view, 2> kResizeRuleNames{"pillow13", "pillow12"};  // as FilterRule
inline constexpr std::array<std::string_view, 3> kResizeSizesNames{"transformers", "torchvision", "pillow"};
inline constexpr std::array kResizeParameters{
    Parameter{.name = "width",
              .help = "Pixels; 0: in proportion to the height",
              .kind = Parameter::Kind::integer,
              .most = kMaxResizeSide},
    Parameter{.name = "height",
              .help = "Rows; 0: in proportion to the width",
              .kind = Parameter::Kind::integer,
              .most = kMaxResizeSide},
    Parameter{.name = "method",
              .help = "New pixels: linear (between four), area (mean of what is covered), nearest; Pillow's "
                      "filters: box, bilinear, hamming, bicubic, lanczos",
              .words = kResizeMethodNames},
    Parameter{.name = "fit",
              .help = "exact: width x height; inside: the largest size within width x height that keeps the "
                      "aspect ratio; cover: width x height from the largest centred part of that aspect "
                      "ratio; contain: inside, on a canvas of width x height",
              .words = kResizeFitNames},
    Parameter{.name = "shortest",
              .help = "Pixels of the shorter side, instead of width and height; the other is in proportion",
              .kind = Parameter::Kind::integer,
              .most = kMaxResizeSide},
    Parameter{.name = "longest",
              .help = "Pixels of the longer side; with shortest: its limit",
              .kind = Parameter::Kind::integer,
              .most = kMaxResizeSide},
    Parameter{.name = "percent",
              .help = "Percent of width and height, instead of a size in pixels; short form: resize:50%",
              .kind = Parameter::Kind::decimal,
              .most = kMaxResizePercent},
    Parameter{.name = "rule",
              .help = "Order of a filter's passes: that of Pillow 13 or of Pillow 12",
              .words = kResizeRuleNames},
    Parameter{.name = "sizes",
              .help = "Library whose rounding applies to shortest and longest",
              .words = kResizeSizesNames},
    Parameter{.name = "background",
              .help = "Colour of the canvas of fit=contain",
              .kind = Parameter::Kind::color,
              .preset = ResizeParameters::kNoBackground},
};

inline constexpr std::array<std::string_view, 3> kRotateAngleNames{"90", "180", "270"};
inline constexpr std::array kRotateParameters{
    Parameter{.name = "angle", .help = "Degrees, clockwise", .words = kRotateAngleNames, .required = true},
};

inline constexpr std::array kSaturationParameters{
    Parameter{.name = "factor",
              .help = "0 is grey, 1 changes nothing, above 1 is more colourful",
              .kind = Parameter::Kind::decimal,
              .preset = kDecimalOne,
              .most = 100 * kDecimalOne,
              .required = true},
};

inline constexpr std::array kSharpenParameters{
    Parameter{.name = "amount",
              .help = "How much of the difference from the blurred image is added",
              .kind = Parameter::Kind::decimal,
              .preset = kDecimalOne,
              .least = 0,
              .most = 10 * kDecimalOne},
    kSigmaParameter,
    Parameter{.name = "threshold",
              .help = "Differences up to this many levels stay as they are",
              .kind = Parameter::Kind::integer,
              .preset = 0,
              .least = 0,
              .most = 65535},
};

inline constexpr std::array<std::string_view, 3> kWindowNames{"box", "triangle", "gauss"};  // as Window
inline constexpr std::array kSmoothParameters{
    Parameter{.name = "window",
              .help = "Smoothing weights: box, triangle, gauss",
              .words = kWindowNames,
              .option = "window"},
    Parameter{.name = "border",
              .help = "Pixels beyond the border: shrink (not counted), replicate, reflect",
              .words = kBorderNames,
              .option = "border"},
};

inline constexpr std::array<std::string_view, 2> kGradientNorms{"l2", "l1"};  // as GradientNorm
inline constexpr std::array kSobelParameters{
    Parameter{
        .name = "norm",
        .help = "Magnitude from dx and dy: l2 (root of the sum of squares), l1 (sum of absolute values)",
        .words = kGradientNorms},
};

inline constexpr std::array<std::string_view, 2> kTopHatKinds{"white", "black"};  // as TopHat
inline constexpr std::array kTopHatParameters{
    kMorphologyParameters[0],
    Parameter{.name = "kind",
              .help = "white: image minus opening, bright details; black: closing minus image, dark details",
              .words = kTopHatKinds},
};

inline constexpr std::array<std::string_view, 1> kThresholdWords{"otsu"};
inline constexpr std::array kThresholdParameters{
    Parameter{.name = "at",
              .help = "Samples above it become white, all others black; otsu finds it for each colour plane",
              .kind = Parameter::Kind::integer,
              .preset = kOtsu,
              .most = kLargest<Sample16>,
              .words = kThresholdWords},
};

inline constexpr std::array<std::string_view, 1> kTrimCornerWord{"corner"};
inline constexpr std::array kTrimParameters{
    Parameter{.name = "fuzz",
              .help = "Largest difference from the background in any channel, in levels",
              .kind = Parameter::Kind::integer,
              .most = 65535},
    Parameter{.name = "color",
              .help = "Colour of the background; corner: that of the top left pixel",
              .kind = Parameter::Kind::color,
              .preset = kTrimCorner,
              .words = kTrimCornerWord},
};

inline constexpr std::array<std::string_view, 1> kGrayWorldWord{"gray-world"};
constexpr Parameter balance_factor(std::string_view name, std::string_view help) {
  return {.name = name,
          .help = help,
          .kind = Parameter::Kind::decimal,
          .preset = kGrayWorld,
          .most = kMaxBalance,
          .words = kGrayWorldWord};
}
inline constexpr std::array kWhiteBalanceParameters{
    balance_factor("red", "Factor of red; gray-world: makes the means of the planes equal"),
    balance_factor("green", "Factor of green"),
    balance_factor("blue", "Factor of blue"),
};

}  // namespace imgpipe
