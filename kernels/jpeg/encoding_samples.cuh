// Computes rows of eight samples of a block from pixels, as jccolor, jcsample and jcprepct do.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "images/codecs/jpeg/forward_scan.h"
#include "kernels/jpeg/encoding_records.h"

namespace imgpipe {

// ---- weighted sums of a pixel's three bytes -----------------------------------------------------------

// Packs two 16-bit weights in the memory order of their bytes.
constexpr std::uint32_t weight_pair(int first, int second) {
  return (static_cast<std::uint32_t>(first) & 0xFFFF) | static_cast<std::uint32_t>(second) << 16;
}

// Returns c plus the weighted bytes 0 and 1 (low) or 2 and 3 (high) of a word. Luma weights are unsigned.
template <bool kSigned, bool kHigh>
__device__ __forceinline__ int weighted_pair(std::uint32_t weights, std::uint32_t bytes, int c) {
  int sum = 0;
  if constexpr (kSigned && kHigh) {
    asm("dp2a.hi.s32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(weights), "r"(bytes), "r"(c));
  } else if constexpr (kSigned) {
    asm("dp2a.lo.s32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(weights), "r"(bytes), "r"(c));
  } else if constexpr (kHigh) {
    asm("dp2a.hi.u32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(weights), "r"(bytes), "r"(c));
  } else {
    asm("dp2a.lo.u32.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(weights), "r"(bytes), "r"(c));
  }
  return sum;
}

// The weights of a component. 32768 does not fit into 16 signed bits, so both differences are computed
// negated: floor(-v / 65536) is -floor((v + 65535) / 65536).
template <int kComponent>
struct ColorWeights;
template <>
struct ColorWeights<0> {
  static constexpr int kR = 19595, kG = 38470, kB = 7471, kStart = 32768;
};
template <>
struct ColorWeights<1> {
  static constexpr int kR = 11059, kG = 21709, kB = -32768, kStart = 65535 - kChromaRound;
};
template <>
struct ColorWeights<2> {
  static constexpr int kR = -32768, kG = 27439, kB = 5329, kStart = 65535 - kChromaRound;
};

// Returns the sample of pixel i of a row that begins on a word; colour differences are negated.
template <int kComponent, int kWords>
__device__ __forceinline__ int color_sample(const std::uint32_t (&words)[kWords], int i) {
  using W = ColorWeights<kComponent>;
  constexpr bool kSigned = kComponent != 0;
  const int at = 3 * i / 4;
  int sum = W::kStart;
  switch (3 * i % 4) {
    case 0:  // r g b -
      sum = weighted_pair<kSigned, false>(weight_pair(W::kR, W::kG), words[at], sum);
      sum = weighted_pair<kSigned, true>(weight_pair(W::kB, 0), words[at], sum);
      break;
    case 1:  // - r g b
      sum = weighted_pair<kSigned, false>(weight_pair(0, W::kR), words[at], sum);
      sum = weighted_pair<kSigned, true>(weight_pair(W::kG, W::kB), words[at], sum);
      break;
    case 2:  // - - r g | b
      sum = weighted_pair<kSigned, true>(weight_pair(W::kR, W::kG), words[at], sum);
      sum = weighted_pair<kSigned, false>(weight_pair(W::kB, 0), words[at + 1], sum);
      break;
    default:  // - - - r | g b
      sum = weighted_pair<kSigned, true>(weight_pair(0, W::kR), words[at], sum);
      sum = weighted_pair<kSigned, false>(weight_pair(W::kG, W::kB), words[at + 1], sum);
      break;
  }
  return sum >> 16;
}

// ---- rows ----------------------------------------------------------------------------------------------

__device__ __forceinline__ uint2 packed_row(const int (&v)[kBlockSide]) {
  const auto word = [&](int i) {
    return __byte_perm(__byte_perm(v[i], v[i + 1], 0x0040), __byte_perm(v[i + 2], v[i + 3], 0x0040), 0x5410);
  };
  return make_uint2(word(0), word(4));
}

// Returns eight bytes with all but the first `count` (1 to 7) replaced by byte count - 1.
__device__ __forceinline__ uint2 repeat_last(uint2 row, int count) {
  const std::uint64_t bytes = std::uint64_t{row.y} << 32 | row.x;
  const std::uint64_t kept = (std::uint64_t{1} << (8 * count)) - 1;
  const std::uint64_t last = (bytes >> (8 * (count - 1))) & 0xFF;
  const std::uint64_t all = (bytes & kept) | (last * 0x0101010101010101ULL & ~kept);
  return make_uint2(static_cast<std::uint32_t>(all), static_cast<std::uint32_t>(all >> 32));
}

class GreyRows {
 public:
  __device__ GreyRows(const JpegEncodingImage& image, const BlockPosition& position)
      : from_(image.pixels + position.x * kBlockSide),
        stride_(image.stride),
        first_(position.y * kBlockSide),
        last_(image.scan.height - 1),
        width_(image.scan.width - position.x * kBlockSide) {}

  __device__ __forceinline__ uint2 row(int y) const {
    const uint2 samples = __ldg(reinterpret_cast<const uint2*>(from_ + min(first_ + y, last_) * stride_));
    return width_ < kBlockSide ? repeat_last(samples, width_) : samples;
  }

 private:
  const Sample8* from_;
  std::int64_t stride_;
  int first_, last_;
  int width_;  // from the block's left edge on
};

// Returns a row of a full-size component, from column x on.
template <int kComponent>
__device__ __forceinline__ uint2 full_row(const Sample8* row, int x, int width) {
  const auto* from = reinterpret_cast<const uint2*>(row + 3 * static_cast<std::int64_t>(x));
  const uint2 a = __ldg(from), b = __ldg(from + 1), c = __ldg(from + 2);
  const std::uint32_t words[6]{a.x, a.y, b.x, b.y, c.x, c.y};
  int v[kBlockSide];
#pragma unroll
  for (int i = 0; i < kBlockSide; ++i) {
    const int sample = color_sample<kComponent>(words, i);
    v[i] = kComponent == 0 ? sample : -sample;
  }
  const uint2 samples = packed_row(v);
  return width - x < kBlockSide ? repeat_last(samples, width - x) : samples;
}

// Adds a row of a negated colour difference, two pixels per sum, from the image's column x on.
template <int kComponent>
__device__ __forceinline__ void add_pairs(const Sample8* row, int x, int width, int (&sums)[kBlockSide]) {
  const auto* from = reinterpret_cast<const uint4*>(row + 3 * static_cast<std::int64_t>(x));
  const uint4 a = __ldg(from), b = __ldg(from + 1), c = __ldg(from + 2);
  const std::uint32_t words[12]{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w};
  int v[2 * kBlockSide];
#pragma unroll
  for (int i = 0; i < 2 * kBlockSide; ++i) v[i] = color_sample<kComponent>(words, i);
  if (width - x < 2 * kBlockSide) {
#pragma unroll
    for (int i = 1; i < 2 * kBlockSide; ++i) v[i] = i < width - x ? v[i] : v[i - 1];
  }
#pragma unroll
  for (int i = 0; i < kBlockSide; ++i) sums[i] += v[2 * i] + v[2 * i + 1];
}

// Returns row y of a component halved in both directions, from its column x on.
template <int kComponent>
__device__ __forceinline__ uint2 halved_row(const JpegEncodingImage& image, int x, int y) {
  const int height = image.scan.height;
  y = min(y, (height + 1) / 2 - 1);
  int sums[kBlockSide]{};
#pragma unroll 1
  for (int i = 0; i < 2; ++i) {
    const Sample8* row = image.pixels + min(2 * y + i, height - 1) * image.stride;
    add_pairs<kComponent>(row, 2 * x, image.scan.width, sums);
  }
  int v[kBlockSide];
#pragma unroll
  for (int i = 0; i < kBlockSide; ++i) v[i] = halved_sample(-sums[i], i);
  return packed_row(v);
}

// Returns row `line` of a block, the first sample in the lowest byte.
__device__ __forceinline__ uint2 block_row(const JpegEncodingImage& image, const BlockPosition& position,
                                           int line) {
  if (image.scan.blocks_in_mcu == 1) return GreyRows(image, position).row(line);
  const int x = position.x * kBlockSide;
  const int y = position.y * kBlockSide + line;
  if (image.scan.blocks_in_mcu == 6 && position.component != 0) {
    return position.component == 1 ? halved_row<1>(image, x, y) : halved_row<2>(image, x, y);
  }
  const int width = image.scan.width;
  const Sample8* row = image.pixels + min(y, image.scan.height - 1) * image.stride;
  if (position.component == 0) return full_row<0>(row, x, width);
  return position.component == 1 ? full_row<1>(row, x, width) : full_row<2>(row, x, width);
}

}  // namespace imgpipe
