// Computes 16 pixels of a row from luma and chroma samples (images/codecs/jpeg/jpeg_arithmetic.h), with Cb
// and Cr packed in words. For host and device.
//
// Colour planes are interleaved: Cb Cr Cb Cr ... A `pair` holds Cb and Cr of one sample or pixel in the
// 16-bit halves of a word. Every sum stays below 4096, so that one addition or multiplication handles both.
#pragma once

#include <cstdint>

#include "images/codecs/jpeg/baseline_scan.h"
#include "images/codecs/jpeg/jpeg_arithmetic.h"
#include "images/host_device.h"
#include "images/luma.h"
#include "kernels/jpeg/packed_words.h"

namespace imgpipe {

inline constexpr int kColourPixels = 16;  // per vector

// How a colour plane is enlarged to the image's size.
enum class Upsampling : std::uint8_t {
  grey,      // no colour planes
  none,      // 4:4:4
  across,    // 4:2:2
  both,      // 4:2:0
  down,      // 4:4:0
  repeated,  // 4:2:2 and 4:2:0, at most kMaxRepeatedWidth samples wide
};
// Whether a vector has only 8 colour samples.
IMGPIPE_HOST_DEVICE constexpr bool halves_columns(Upsampling upsampling) {
  return upsampling == Upsampling::across || upsampling == Upsampling::both ||
         upsampling == Upsampling::repeated;
}

// ---- upsampling ------------------------------------------------------------------------------------------

// The rows of a colour plane for a row of pixels; they are equal without upsampling and at the image's edge.
struct ColourRows {
  std::uint32_t near = 0, far = 0;
};
IMGPIPE_HOST_DEVICE constexpr ColourRows colour_rows(std::uint32_t y, std::uint32_t colour_height,
                                                     bool halved) {
  if (!halved) return {y, y};
  const std::uint32_t near = y / 2;
  const std::uint32_t last = colour_height - 1;
  if (y % 2 == 0) return {near, near > 0 ? near - 1 : 0};
  return {near, near < last ? near + 1 : last};
}

IMGPIPE_HOST_DEVICE constexpr std::uint32_t both_halves(std::uint32_t v) {
  return v << 16 | v;
}

IMGPIPE_HOST_DEVICE constexpr std::uint32_t pair_of(std::uint32_t word, unsigned i) {
  return select_bytes(word, 0, i == 0 ? 0x4140 : 0x4342);
}

// Cb is the lowest byte of a pair, whatever bits 12 to 15 hold; Cr is the upper half.
IMGPIPE_HOST_DEVICE constexpr std::int32_t cb_of(std::uint32_t pair) {
  return static_cast<std::int32_t>(pair & 0xFF);
}
IMGPIPE_HOST_DEVICE constexpr std::int32_t cr_of(std::uint32_t pair) {
  return static_cast<std::int32_t>(pair >> 16);
}

// 8 samples of a row of a half-width colour plane, and one more at either end, repeated at the image's edge.
struct HalfRow {
  std::uint32_t word[4] = {};
  std::uint32_t before = 0, after = 0;  // pairs
};

IMGPIPE_HOST_DEVICE constexpr void upsample_across(const HalfRow& row,
                                                   std::uint32_t (&pairs)[kColourPixels]) {
  std::uint32_t before = row.before;
  std::uint32_t a = pair_of(row.word[0], 0);
  for (unsigned i = 0; i < kColourPixels / 2; ++i) {
    const std::uint32_t after = i == 7 ? row.after : pair_of(row.word[(i + 1) / 2 % 4], (i + 1) % 2);
    const std::uint32_t tripled = 3 * a + both_halves(1);
    const unsigned left = 2 * i;
    pairs[left] = (tripled + before) >> 2;
    pairs[left + 1] = (tripled + after + both_halves(1)) >> 2;
    before = a;
    a = after;
  }
}

IMGPIPE_HOST_DEVICE constexpr void upsample_both(const HalfRow& near, const HalfRow& far,
                                                 std::uint32_t (&pairs)[kColourPixels]) {
  std::uint32_t before = 3 * near.before + far.before;
  std::uint32_t sum = 3 * pair_of(near.word[0], 0) + pair_of(far.word[0], 0);
  for (unsigned i = 0; i < kColourPixels / 2; ++i) {
    const unsigned next = i + 1;
    const std::uint32_t after =
        i == 7 ? 3 * near.after + far.after
               : 3 * pair_of(near.word[next / 2 % 4], next % 2) + pair_of(far.word[next / 2 % 4], next % 2);
    const std::uint32_t tripled = 3 * sum + both_halves(7);
    const unsigned left = 2 * i;
    pairs[left] = (tripled + before + both_halves(1)) >> 4;
    pairs[left + 1] = (tripled + after) >> 4;
    before = sum;
    sum = after;
  }
}

IMGPIPE_HOST_DEVICE constexpr void repeat_across(const std::uint32_t (&row)[4],
                                                 std::uint32_t (&pairs)[kColourPixels]) {
  for (unsigned i = 0; i < kColourPixels; ++i) pairs[i] = pair_of(row[i / 4], i / 2 % 2);
}

IMGPIPE_HOST_DEVICE constexpr void unpack_pairs(const std::uint32_t (&row)[8],
                                                std::uint32_t (&pairs)[kColourPixels]) {
  for (unsigned i = 0; i < kColourPixels; ++i) pairs[i] = pair_of(row[i / 2], i % 2);
}

// `lower`: the lower of the two pixel rows of a sample row.
IMGPIPE_HOST_DEVICE constexpr void upsample_down(const std::uint32_t (&near)[8],
                                                 const std::uint32_t (&far)[8], bool lower,
                                                 std::uint32_t (&pairs)[kColourPixels]) {
  const std::uint32_t round = both_halves(lower ? 2 : 1);
  for (unsigned i = 0; i < kColourPixels; ++i)
    pairs[i] = (3 * pair_of(near[i / 2], i % 2) + pair_of(far[i / 2], i % 2) + round) >> 2;
}

// ---- colour ----------------------------------------------------------------------------------------------

// Returns the pixel of sample k of a luma word: R, G and B in the three lower bytes, the highest undefined.
// Computes the same as red_of(), green_of() and blue_of(), but with 16 fractional bits throughout.
IMGPIPE_HOST_DEVICE constexpr std::uint32_t rgb_of(std::uint32_t luma, unsigned k, std::uint32_t pair) {
  constexpr std::int32_t kHalf = 32768;
  constexpr std::int32_t kWhite = 0xFFFFFF;
  const auto y = static_cast<std::int32_t>(select_bytes(luma, 0, 0x4044 | k << 8));
  const std::int32_t cb = cb_of(pair);
  const std::int32_t cr = cr_of(pair);
  const std::uint32_t red = add_clamped(y + 91881 * cr, kHalf - 128 * 91881, kWhite);
  const std::uint32_t green = add_clamped(y - 22554 * cb - 46802 * cr, kHalf + 128 * (22554 + 46802), kWhite);
  const std::uint32_t blue = add_clamped(y + 116130 * cb, kHalf - 128 * 116130, kWhite);
  return select_bytes(select_bytes(red, green, 0x4462), blue, 0x4610);
}

// The luma weights with 16 fractional bits, split into a word of lower bytes and one of upper bytes.
struct ByteWeights {
  std::uint32_t lower = 0, upper = 0;
};
IMGPIPE_HOST_DEVICE constexpr ByteWeights byte_weights(Luma luma) {
  const LumaWeights w = luma_weights(luma);
  const std::uint32_t r = w.r << (16 - w.shift);
  const std::uint32_t g = w.g << (16 - w.shift);
  const std::uint32_t b = w.b << (16 - w.shift);
  return {(r & 0xFF) | (g & 0xFF) << 8 | (b & 0xFF) << 16, r >> 8 | (g >> 8) << 8 | (b >> 8) << 16};
}

// Returns luma_of() of a pixel, in byte 2.
IMGPIPE_HOST_DEVICE constexpr std::uint32_t grey_of(std::uint32_t rgb, const ByteWeights& weights) {
  return sum_of_byte_products(rgb, weights.lower, 32768) + (sum_of_byte_products(rgb, weights.upper, 0) << 8);
}

IMGPIPE_HOST_DEVICE constexpr std::uint32_t pack_second_bytes(std::uint32_t a, std::uint32_t b,
                                                              std::uint32_t c, std::uint32_t d) {
  return select_bytes(select_bytes(a, b, 0x0062), select_bytes(c, d, 0x0062), 0x5410);
}

IMGPIPE_HOST_DEVICE constexpr void join_pixels(const std::uint32_t (&rgb)[4], std::uint32_t* words) {
  words[0] = select_bytes(rgb[0], rgb[1], 0x4210);
  words[1] = select_bytes(rgb[1], rgb[2], 0x5421);
  words[2] = select_bytes(rgb[2], rgb[3], 0x6542);
}

}  // namespace imgpipe
