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
                  "19235 G + 3735 B + 16384) >> 15. A grey image is left as it is.",
              .source = "ITU-R BT.601-7, 2.5.1; ITU-R BT.709-6, 3.2",
              .equals = "Pillow's convert(\"L\") (bt601); cv2.cvtColor (opencv)",
              .example = "gray:bt709"},
    StageText{.stage = "hist",
              .rule = "An exact count of each value, 256 of 8 bits or 65,536 of 16, for each colour plane; "
                      "--histogram writes it. The pixels stay as they are.",
              .example = "gray,hist"},
    StageText{.stage = "contrast",
              .rule =
                  "lo and hi are the first and the last value at which the count of samples from that end "
                  "exceeds clip percent. v <= lo becomes 0, v >= hi white, all between ((v-lo) 2 white + "
                  "(hi-lo)) / (2 (hi-lo)), in whole numbers; hi <= lo: nothing changes.",
              .source = "Gonzalez and Woods, Digital Image Processing, 3.2.4",
              .example = "contrast:clip=0.5:stretch=each"},
    StageText{.stage = "smooth",
              .rule =
                  "The weighted mean of the 5x5 neighbourhood, rounded once: (2S + n) / (2n), S the sum of "
                  "weight times sample, n that of the weights that count. Weights are a row times itself: "
                  "box 1 1 1 1 1, triangle 1 2 3 2 1, gauss 1 4 6 4 1.",
              .equals = "with border=reflect: cv2.blur 5x5 (box), cv2.GaussianBlur 5x5 with sigma 0 (gauss)",
              .example = "smooth:gauss:border=reflect"},
    StageText{.stage = "threshold",
              .rule = "v > at becomes white, all else 0. otsu parts the histogram of each plane into the two "
                      "classes whose means differ most for their sizes.",
              .source = "Otsu, A Threshold Selection Method from Gray-Level Histograms, 1979",
              .equals = "cv2.threshold with THRESH_BINARY, and THRESH_OTSU",
              .example = "gray,threshold:otsu"},
    StageText{
        .stage = "invert", .rule = "v becomes white - v.", .equals = "cv2.bitwise_not", .example = "invert"},
    StageText{.stage = "gamma",
              .rule = "v becomes white (v/white)^(1/gamma), rounded half up, by a table of all values; 1 is "
                      "left out.",
              .equals = "cv2.LUT with that table; the direction is that of ImageMagick's -gamma",
              .example = "gamma:2.2"},
    StageText{.stage = "levels",
              .rule =
                  "contrast with a lo and hi that are given: v <= lo becomes 0, v >= hi white, all between "
                  "is spread evenly; hi <= lo is left out.",
              .example = "levels:16:235:8"},
    StageText{.stage = "resize",
              .rule =
                  "Another width and height. linear: between the four nearest pixels, by weights of 1/256 "
                  "along each axis (1/65536 of 16 bits), rounded once; area: the exact mean of what a new "
                  "pixel covers; nearest: the pixel that holds the centre. The size that is there already "
                  "is left out.",
              .equals = "cv2.resize INTER_LINEAR_EXACT (linear), INTER_AREA by whole factors (area; "
                        "docs/pixels.md has the exceptions); Pillow's NEAREST (nearest)",
              .example = "resize:800:600:area:inside"},
    StageText{.stage = "depth",
              .rule =
                  "8: (v 255 + 32767) / 65535, the nearest value of 8 bits; 16: 257 v; float: v / white, so "
                  "that white is 1, for steps after which depth:8 or depth:16 makes integers again: the "
                  "nearest, limited to black and white. Alpha too. What is of that type is left as it is.",
              .example = "depth:8"},
    StageText{.stage = "crop",
              .rule = "The rectangle of width x height pixels whose left upper one is (x, y); in the middle "
                      "where x and y are not given. It must be inside the image. One text says it all: "
                      "crop:640x480+10+20.",
              .equals = "ImageMagick's -crop with +repage; Pillow's crop",
              .example = "crop:640x480+10+20"},
    StageText{.stage = "flip",
              .rule = "horizontal: pixel (x, y) becomes (width-1-x, y); vertical: (x, height-1-y).",
              .equals = "cv2.flip by 1 and by 0; ImageMagick's -flop and -flip",
              .example = "flip:vertical"},
    StageText{.stage = "rotate",
              .rule = "Clockwise, and exact: whole pixels move.",
              .equals = "cv2.rotate; ImageMagick's -rotate; Pillow's transpose, which counts the other way",
              .example = "rotate:90"},
    StageText{.stage = "equalize",
              .rule = "With i the least value that occurs, n(v) the samples up to v and N all of them, v "
                      "becomes (n(v)-n(i)) white / (N-n(i)), rounded half to even, in each colour plane; i "
                      "becomes 0.",
              .equals = "cv2.equalizeHist of each plane of 8 bits",
              .example = "gray,equalize"},
    StageText{
        .stage = "clahe",
        .rule = "Each tile has a table that makes its histogram even, with no count above clip times the "
                "mean count; a sample becomes what the tables of the four nearest tiles make of it, "
                "weighted by its distance to their middles.",
        .source = "Zuiderveld, Contrast Limited Adaptive Histogram Equalization, Graphics Gems IV, 1994",
        .equals = "cv2.createCLAHE(clip, (tiles, tiles)).apply of each plane, of 8 and of 16 bits",
        .example = "gray,clahe:clip=2:tiles=8"},
    StageText{
        .stage = "median",
        .rule = "The middle one of the window's samples, sorted; beyond the edge stands the edge pixel.",
        .equals = "cv2.medianBlur of each plane",
        .example = "median:5"},
    StageText{.stage = "sobel",
              .rule =
                  "dx is the column to the right less that to the left, weighted 1 2 1, dy the same of the "
                  "rows below and above. l2: sqrt(dx^2 + dy^2), rounded; l1: |dx| + |dy|; at most white.",
              .equals = "dx and dy are those of cv2.Sobel with ksize=3",
              .example = "gray,sobel:l1"},
    StageText{.stage = "box",
              .rule = "The mean of the (2 radius + 1)^2 window, rounded once: (2S + n) / (2n), S the sum of "
                      "the n samples that count. A pixel costs about the same whatever the radius.",
              .equals = "with border=reflect the sums of cv2.boxFilter; box:2 is smooth:box",
              .example = "box:15"},
    StageText{.stage = "gauss",
              .rule =
                  "A Gaussian of deviation sigma that reaches ceil(3 sigma) pixels, down the columns, then "
                  "along the rows, by integer weights that add up to 65536.",
              .equals = "cv2.GaussianBlur of the samples as doubles, rounded, is at most 1 apart of 8 bits",
              .example = "gauss:2.5"},
    StageText{.stage = "sharpen",
              .rule =
                  "An unsharp mask: with u what gauss:sigma makes of v, v moves away from u by amount "
                  "|v-u|, rounded, and stops at 0 and at white; where |v-u| is at most threshold it stays.",
              .example = "sharpen:1.5:sigma=2"},
    StageText{
        .stage = "erode",
        .rule = "The least sample of the (2 radius + 1)^2 window, as far as the image has it. A pixel costs "
                "about the same whatever the radius.",
        .source = "Serra, Image Analysis and Mathematical Morphology, 1982",
        .equals = "cv2.erode with a kernel of ones",
        .example = "gray,threshold,erode:2"},
    StageText{.stage = "dilate",
              .rule = "The greatest sample of the window, as erode has it.",
              .source = "Serra, Image Analysis and Mathematical Morphology, 1982",
              .equals = "cv2.dilate with a kernel of ones",
              .example = "erode:3,dilate:3"},
    StageText{
        .stage = "posterize",
        .rule = "The highest bits of each sample stay, the others become 0. Of 8 bits, bits=8 is left out.",
        .equals = "Pillow's ImageOps.posterize, of 8 bits",
        .example = "posterize:3"},
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
