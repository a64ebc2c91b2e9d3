#include "kernels/table/stage_texts.h"

#include <algorithm>
#include <array>

#include "kernels/stage.h"

namespace imgpipe {
namespace {

// In the order of the table of stages, as a test verifies.
constexpr std::array kTexts{
    StageText{.stage = "gray",
              .rule =
                  "The weighted mean of red, green and blue, rounded once: bt601 (19595 R + 38470 G + 7471 "
                  "B + 32768) >> 16, bt709 (13933 R + 46871 G + 4732 B + 32768) >> 16, opencv (9798 R + "
                  "19235 G + 3735 B + 16384) >> 15. Grey images stay unchanged.",
              .source = "ITU-R BT.601-7, 2.5.1; ITU-R BT.709-6, 3.2",
              .equals = "Pillow's convert(\"L\") (bt601); cv2.cvtColor (opencv)",
              .example = "gray:bt709"},
    StageText{.stage = "rgb",
              .rule = "Grey becomes three equal planes; alpha is dropped. RGB without alpha is skipped.",
              .equals = "Pillow's convert(\"RGB\"), 8 bits",
              .example = "rgb"},
    StageText{.stage = "flatten",
              .rule = "The image on an opaque colour: (v a + c (white - a)) / white, rounded to the nearest, "
                      "with alpha a and the colour's sample c. The result has no alpha. Grey images get the "
                      "colour's grey. Images without alpha are skipped.",
              .equals = "Pillow's paste(image, mask=alpha) on an image of that colour, 8 bits",
              .example = "flatten:white"},
    StageText{.stage = "channel",
              .rule = "One channel as a grey image: its number from 1, or r, g, b, a. Alpha is the last: 2 "
                      "after grey, 4 after RGB.",
              .equals = "Pillow's getchannel",
              .example = "channel:a"},
    StageText{.stage = "hist",
              .rule = "Counts each value exactly for each colour plane: 256 values of 8 bits, 65,536 of 16. "
                      "Floats are counted in 256 equal bins from lo to hi, and those below, those above and "
                      "NaN. --histogram writes the counts. Pixels do not change.",
              .equals = "for floats, numpy.histogram of doubles, with 256 bins and the range (lo, hi)",
              .example = "gray,hist"},
    StageText{.stage = "contrast",
              .rule =
                  "lo and hi are the first and the last value at which the count of samples from that end "
                  "exceeds clip percent. v <= lo becomes 0, v >= hi white, values in between ((v-lo) 2 "
                  "white + (hi-lo)) / (2 (hi-lo)), in integer arithmetic. If hi <= lo, nothing changes.",
              .source = "Gonzalez and Woods, Digital Image Processing, 3.2.4",
              .example = "contrast:clip=0.5:stretch=each"},
    StageText{.stage = "smooth",
              .rule =
                  "The weighted mean of the 5x5 neighbourhood, rounded once: (2S + n) / (2n). S is the sum "
                  "of weight times sample, n the sum of the weights inside the image. The weights are the "
                  "outer product of a row: box 1 1 1 1 1, triangle 1 2 3 2 1, gauss 1 4 6 4 1.",
              .equals = "with border=reflect: cv2.blur 5x5 (box), cv2.GaussianBlur 5x5 with sigma 0 (gauss)",
              .example = "smooth:gauss:border=reflect"},
    StageText{.stage = "threshold",
              .rule =
                  "v > at becomes white, other values 0. otsu divides the histogram of each plane into the "
                  "two classes with the greatest between-class variance.",
              .source = "Otsu, A Threshold Selection Method from Gray-Level Histograms, 1979",
              .equals = "cv2.threshold with THRESH_BINARY, and THRESH_OTSU",
              .example = "gray,threshold:otsu"},
    StageText{
        .stage = "invert", .rule = "v becomes white - v.", .equals = "cv2.bitwise_not", .example = "invert"},
    StageText{.stage = "gamma",
              .rule = "v becomes white (v/white)^(1/gamma), rounded half up, by a table of all values. "
                      "gamma:1 is skipped.",
              .equals = "cv2.LUT with that table; same direction as ImageMagick's -gamma",
              .example = "gamma:2.2"},
    StageText{
        .stage = "levels",
        .rule = "contrast with given lo and hi: v <= lo becomes 0, v >= hi white, values in between are "
                "stretched linearly. lo must be less than hi. Floats may have any limits and become 0 to 1; "
                "depth:8 or depth:16 after it makes integers.",
        .example = "levels:16:235:8"},
    StageText{
        .stage = "add",
        .rule =
            "v + d, rounded half up and limited to white, with d a number or the sample of a second image "
            "of the same size. A grey image serves all channels. Alpha is unchanged.",
        .equals = "cv2.add with an image",
        .example = "add:10"},
    StageText{.stage = "subtract",
              .rule = "v - d, rounded half up, at least 0, with d as in add.",
              .equals = "cv2.subtract with an image",
              .example = "subtract:dark.tif"},
    StageText{.stage = "multiply",
              .rule = "v d, with an image v d scale, rounded half up and limited to white, with d as in add.",
              .equals = "NumPy's v * d * scale, rounded half up and clipped",
              .example = "multiply:1.5"},
    StageText{
        .stage = "divide",
        .rule =
            "v / d, with an image v scale / d, rounded half up and limited to white, with d as in add. The "
            "default scale is the mean of the second image. Division by 0 gives white, 0 / 0 gives 0.",
        .equals = "NumPy's (2 v scale + d) // (2 d), clipped",
        .example = "divide:flat.tif"},
    StageText{.stage = "min",
              .rule = "The smaller of v and d, with d as in add.",
              .equals = "np.minimum",
              .example = "min:200"},
    StageText{.stage = "max",
              .rule = "The larger of v and d, with d as in add.",
              .equals = "np.maximum",
              .example = "max:16"},
    StageText{.stage = "absdiff",
              .rule = "The absolute difference of v and d, with d as in add.",
              .equals = "cv2.absdiff with an image",
              .example = "absdiff:before.png"},
    StageText{.stage = "mask",
              .rule =
                  "v m / white, rounded to the nearest, with the sample m of a second image: white keeps the "
                  "image, black makes it black. A grey mask serves all channels. Alpha is unchanged.",
              .example = "mask:mask.png"},
    StageText{
        .stage = "append",
        .rule = "Appends the channels of a second image, in the order of files: grey, alpha; R, G, B, alpha. "
                "A grey image with two more is RGB. Both have at most 4 channels together.",
        .equals = "numpy.concatenate along the channels, cv2.merge, libvips' bandjoin",
        .example = "append:g.png,append:b.png"},
    StageText{.stage = "over",
              .rule =
                  "A second image on top: (s a + v (white - a)) / white, rounded to the nearest, with its "
                  "sample s and its alpha times the opacity, a. In an image with alpha, colours are composed "
                  "in premultiplied form, and so is alpha. Positions are ImageMagick's gravities; parts "
                  "outside the image are cut.",
              .source = "Porter and Duff, Compositing Digital Images, SIGGRAPH 1984",
              .equals = "Pillow's paste(second, mask=second) on an image without alpha, 8 bits",
              .example = "over:logo.png:southeast"},
    StageText{.stage = "resize",
              .rule =
                  "Scales to WxH, N% of both sides, or a size by the shorter or longer side. linear: "
                  "interpolates between the four nearest pixels, with weights of 1/256 along each axis "
                  "(1/65536 for 16 bits), rounded once; area: the exact mean of the area that a new pixel "
                  "covers; nearest: the pixel at the centre; box and the others: Pillow's filters. The "
                  "planner inserts the canvas of fit=contain. Skipped if the image already has that size.",
              .equals = "cv2.resize INTER_LINEAR_EXACT (linear), INTER_AREA by whole factors (area; "
                        "docs/pixels.md has the exceptions); Pillow's resize (nearest and the filters), "
                        "ImageOps.fit (cover), ImageOps.pad (contain)",
              .example = "resize:800:600:area:inside"},
    StageText{.stage = "depth",
              .rule =
                  "8: (v 255 + 32767) / 65535, the nearest value of 8 bits; 16: 257 v; float: v / white, so "
                  "that white is 1. Files have integers: end with depth:8 or depth:16, which round floats to "
                  "the nearest value and clamp them. Alpha is converted too. Skipped if the samples "
                  "already have that type.",
              .example = "depth:8"},
    StageText{.stage = "crop",
              .rule = "The rectangle of width x height pixels with its upper left pixel at (x, y); centred "
                      "without x and y. It must be inside the image, unless pad gives the colour of the "
                      "pixels outside. Short form: crop:640x480+10+20.",
              .equals = "ImageMagick's -crop with +repage; Pillow's crop; center_crop of transformers and "
                        "torchvision (rule)",
              .example = "crop:640x480+10+20"},
    StageText{
        .stage = "trim",
        .rule = "The smallest rectangle that holds all pixels which differ from the background by more than "
                "fuzz in any channel, alpha included. Each image is read twice. An image that is all "
                "background is unchanged, with a warning.",
        .equals = "ImageMagick's -trim, with fuzz 0, of images whose corners are equal",
        .example = "trim:fuzz=8"},
    StageText{.stage = "pad",
              .rule =
                  "The image on a canvas of one colour, which must not be smaller than the image. The "
                  "position names the sides that the image touches; between the others it is centred, with "
                  "halves rounded to even. Alpha is padded with the colour's alpha. Short form: "
                  "pad:640x480:white.",
              .equals = "Pillow's ImageOps.pad, after its resizing",
              .example = "pad:640x480:white"},
    StageText{.stage = "flip",
              .rule = "horizontal: pixel (x, y) becomes (width-1-x, y); vertical: (x, height-1-y).",
              .equals = "cv2.flip by 1 and by 0; ImageMagick's -flop and -flip",
              .example = "flip:vertical"},
    StageText{
        .stage = "rotate",
        .rule = "Clockwise by 90, 180 or 270 degrees; pixel values do not change.",
        .equals = "cv2.rotate; ImageMagick's -rotate; Pillow's transpose, which counts counterclockwise",
        .example = "rotate:90"},
    StageText{.stage = "equalize",
              .rule =
                  "In each colour plane, v becomes (n(v)-n(i)) white / (N-n(i)), rounded half to even: i is "
                  "the smallest value that occurs, n(v) the number of samples up to v, N that of all "
                  "samples. i becomes 0.",
              .equals = "cv2.equalizeHist of each plane of 8 bits",
              .example = "gray,equalize"},
    StageText{
        .stage = "clahe",
        .rule = "Each tile has a table that equalises its histogram, with counts limited to clip times the "
                "mean count. A sample is interpolated between the results of the four nearest tiles' tables, "
                "weighted by its distance to their centres.",
        .source = "Zuiderveld, Contrast Limited Adaptive Histogram Equalization, Graphics Gems IV, 1994",
        .equals = "cv2.createCLAHE(clip, (tiles, tiles)).apply of each plane, of 8 and of 16 bits",
        .example = "gray,clahe:clip=2:tiles=8"},
    StageText{.stage = "median",
              .rule = "The median of the window's samples. Beyond the edge, the edge pixel is repeated.",
              .equals = "cv2.medianBlur of each plane",
              .example = "median:5"},
    StageText{.stage = "sobel",
              .rule =
                  "dx is the right column minus the left one, weighted 1 2 1; dy is the row below minus the "
                  "row above. l2: sqrt(dx^2 + dy^2), rounded; l1: |dx| + |dy|. Limited to white.",
              .equals = "dx and dy are those of cv2.Sobel with ksize=3",
              .example = "gray,sobel:l1"},
    StageText{.stage = "box",
              .rule =
                  "The mean of the (2 radius + 1)^2 window, rounded once: (2S + n) / (2n), with S the sum of "
                  "the window's n samples inside the image. The cost per pixel hardly depends on the radius.",
              .equals = "with border=reflect the sums of cv2.boxFilter; box:2 is smooth:box",
              .example = "box:15"},
    StageText{.stage = "gauss",
              .rule =
                  "A Gaussian with standard deviation sigma and radius ceil(3 sigma), down the columns, then "
                  "along the rows, with integer weights that sum to 65536.",
              .equals = "cv2.GaussianBlur of the samples as doubles, rounded, to within 1 for 8 bits",
              .example = "gauss:2.5"},
    StageText{.stage = "sharpen",
              .rule =
                  "An unsharp mask: v becomes v + amount (v-u), rounded and clamped, with u the result of "
                  "gauss:sigma. Where |v-u| is at most threshold, v does not change.",
              .example = "sharpen:1.5:sigma=2"},
    StageText{
        .stage = "erode",
        .rule =
            "The minimum of the samples of the (2 radius + 1)^2 window that are inside the image. The cost "
            "per pixel hardly depends on the radius.",
        .source = "Serra, Image Analysis and Mathematical Morphology, 1982",
        .equals = "cv2.erode with a kernel of ones",
        .example = "gray,threshold,erode:2"},
    StageText{.stage = "dilate",
              .rule = "The maximum of the same window as erode.",
              .source = "Serra, Image Analysis and Mathematical Morphology, 1982",
              .equals = "cv2.dilate with a kernel of ones",
              .example = "erode:3,dilate:3"},
    StageText{
        .stage = "tophat",
        .rule = "white: the image minus its opening, which is dilate:radius of erode:radius; bright details "
                "narrower than the window remain. black: the closing, erode:radius of dilate:radius, minus "
                "the image; dark details remain.",
        .source = "Serra, Image Analysis and Mathematical Morphology, 1982",
        .equals = "cv2.morphologyEx with MORPH_TOPHAT, MORPH_BLACKHAT and a kernel of ones",
        .example = "gray,tophat:15:black"},
    StageText{.stage = "posterize",
              .rule = "The highest bits of each sample are kept, the others become 0. bits=8 of 8-bit "
                      "samples is skipped.",
              .equals = "Pillow's ImageOps.posterize, of 8 bits",
              .example = "posterize:3"},
    StageText{.stage = "brightness",
              .rule =
                  "v becomes factor v, in 32-bit floats, rounded down and limited to white. multiply rounds "
                  "to the nearest instead. brightness:1 is skipped.",
              .equals = "Pillow's ImageEnhance.Brightness, of 8 bits",
              .example = "brightness:1.2"},
    StageText{
        .stage = "saturation",
        .rule = "v becomes g + factor (v-g), in 32-bit floats, rounded down and limited to black and white. "
                "g is the pixel's grey as gray:bt601 makes it. Grey images and saturation:1 are skipped.",
        .equals = "Pillow's ImageEnhance.Color, of 8 bits",
        .example = "saturation:1.3"},
    StageText{
        .stage = "whitebalance",
        .rule =
            "v becomes v times the plane's factor, rounded half up, at most white. gray-world: the mean of "
            "all samples divided by the plane's, in millionths, rounded half up, at most 100. Grey "
            "images and factors of 1 are skipped.",
        .source = "Buchsbaum, A Spatial Processor Model for Object Colour Perception, 1980",
        .example = "whitebalance:1.2:1:0.9"},
    StageText{.stage = "colormap",
              .rule = "A grey sample becomes one of the map's 256 colours, as RGB of 8 bits. A map can be an "
                      "image of 256x1 or "
                      "1x256 pixels. 16 bits are rounded "
                      "to 8 as depth:8 does. Alpha is dropped.",
              .source = "viridis, magma: Smith, van der Walt and Firing, Matplotlib, 2015; turbo: Mikhailov, "
                        "Google, 2019",
              .equals = "cv2.applyColorMap of 8 bits",
              .example = "gray,colormap:viridis"},
    StageText{.stage = "icc",
              .rule =
                  "Colours are converted from the image's ICC profile to sRGB. The report names the rule: "
                  "curve (grey), matrix33 (curves and a matrix), lcms33 or lcms17 (tables; CMYK). Grey "
                  "stays grey. CMYK needs icc as the first step. Images without a profile, or with that "
                  "of sRGB, are skipped.",
              .source = "ICC.1:2010; IEC 61966-2-1; lcms2 evaluates tables",
              .example = "icc:srgb"},
    StageText{
        .stage = "normalize",
        .rule = "v becomes (v/white - mean) / std, by a table of all values for each channel. Each operation "
                "is rounded as in the library that formula names; float16 and bfloat16 are the float32 "
                "rounded once more. Only as the last step, for images of 8 or 16 bits without alpha.",
        .equals = "CLIPImageProcessor and others of transformers that use numpy; torchvision's ToTensor "
                  "and Normalize (totensor), v2.ToDtype and v2.Normalize (torchvision-v2)",
        .example = "rgb,normalize:clip"},
};

}  // namespace

std::span<const StageText> stage_texts() {
  return kTexts;
}

const StageText* stage_text(const Stage& stage) {
  const auto* text = std::ranges::find(kTexts, stage.name, &StageText::stage);
  return text == kTexts.end() ? nullptr : text;
}

}  // namespace imgpipe
