// What the kernels that work on tiles share.
#pragma once

#include <cuda_runtime.h>

#include "kernels/png/group.h"

namespace imgpipe::png_strips {

constexpr unsigned kAllLanes = 0xFFFFFFFFU;
constexpr unsigned kLanes = 32;
constexpr unsigned kTileWarps = kTileThreads / kLanes;

// The tile of a block of threads.
struct Tile {
  __device__ explicit Tile(const Group& group)
      : picture(picture_of(group, &Picture::first_tile, blockIdx.x)) {
    const std::uint32_t tile = blockIdx.x - picture.first_tile;
    strip = tile / picture.tiles_a_strip;
    number = tile - strip * picture.tiles_a_strip;
    begin = number * kTileBytes;
    strip_bytes = picture.bytes_of(strip);
    const std::uint32_t left = strip_bytes - begin;
    bytes = left < kTileBytes ? left : kTileBytes;
  }
  // Of the whole strip.
  __device__ std::uint8_t* filtered(const Group& group) const {
    return group.filtered + picture.filtered + strip * picture.strip_pitch;
  }
  [[nodiscard]] __device__ bool last_of_strip() const { return begin + bytes == strip_bytes; }

  Picture picture;
  std::uint32_t strip;   // of the image
  std::uint32_t number;  // of the strip
  std::uint32_t begin;   // its first byte in the strip
  std::uint32_t bytes;
  std::uint32_t strip_bytes;
};

// Bits of a window's bytes that are there, of `bytes` from the window's first on.
__device__ inline std::uint32_t low_bits(std::uint32_t bytes) {
  return bytes >= kWindowBytes ? ~0U : (1U << bytes) - 1;
}

// Bit i: byte i of the window equals the byte before it. `before`: the last byte of the window before.
__device__ inline std::uint32_t equal_bytes(const std::uint32_t (&words)[8], std::uint32_t before) {
  std::uint32_t equal = equal_to_last(words[0], before);
#pragma unroll
  for (int k = 1; k < 8; ++k) equal |= equal_to_last(words[k], words[k - 1] >> 24) << 4 * k;
  return equal;
}

// The number of bytes right before a window that equal the byte before them without a gap, and of those
// right behind it.
struct Reach {
  std::uint32_t in, out;
};

// What a warp's windows have at their ends; `whole`: all bytes equal the one before.
struct WarpEnds {
  std::uint32_t leading, trailing;
};
constexpr std::uint32_t kWarpBytes = kLanes * kWindowBytes;

// For every window of the block's tile: `in` and `out` are the tile's. All threads call it; one barrier, so
// `ends` must not be in use.
__device__ inline Reach reach_of_windows(std::uint32_t equal, std::uint32_t in, std::uint32_t out,
                                         WarpEnds (&ends)[kTileWarps]) {
  const unsigned lane = threadIdx.x % kLanes;
  const unsigned warp = threadIdx.x / kLanes;
  const std::uint32_t leading = low_ones(equal);
  const std::uint32_t trailing = high_ones(equal);
  const std::uint32_t gaps = __ballot_sync(kAllLanes, equal != ~0U);
  const unsigned first_gap = gaps == 0 ? 0 : trailing_zeros(gaps);
  const unsigned last_gap = gaps == 0 ? 0 : 31 - static_cast<unsigned>(__clz(static_cast<int>(gaps)));
  const std::uint32_t warp_leading = __shfl_sync(kAllLanes, leading, static_cast<int>(first_gap));
  const std::uint32_t warp_trailing = __shfl_sync(kAllLanes, trailing, static_cast<int>(last_gap));
  if (lane == 0) {
    ends[warp] = gaps == 0 ? WarpEnds{kWarpBytes, kWarpBytes}
                           : WarpEnds{first_gap * kWindowBytes + warp_leading,
                                      (31 - last_gap) * kWindowBytes + warp_trailing};
  }
  __syncthreads();
  Reach reach{0, 0};
  unsigned at = warp;
  while (at > 0 && ends[at - 1].trailing == kWarpBytes) {
    reach.in += kWarpBytes;
    --at;
  }
  reach.in += at > 0 ? ends[at - 1].trailing : in;
  at = warp + 1;
  while (at < kTileWarps && ends[at].leading == kWarpBytes) {
    reach.out += kWarpBytes;
    ++at;
  }
  reach.out += at < kTileWarps ? ends[at].leading : out;
  // Within the warp.
  const std::uint32_t below = gaps & ((1U << lane) - 1);
  const unsigned from = below == 0 ? 0 : 31 - static_cast<unsigned>(__clz(static_cast<int>(below)));
  const std::uint32_t from_trailing = __shfl_sync(kAllLanes, trailing, static_cast<int>(from));
  reach.in = below == 0 ? reach.in + lane * kWindowBytes : (lane - 1 - from) * kWindowBytes + from_trailing;
  const std::uint32_t above = lane == 31 ? 0 : gaps >> (lane + 1) << (lane + 1);
  const unsigned to = above == 0 ? 31 : trailing_zeros(above);
  const std::uint32_t to_leading = __shfl_sync(kAllLanes, leading, static_cast<int>(to));
  reach.out = above == 0 ? reach.out + (31 - lane) * kWindowBytes : (to - lane - 1) * kWindowBytes + to_leading;
  return reach;
}

template <class T>
__device__ inline T warp_sum(T value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  return value;
}

// The sum over the lanes before this one; `total`: over all.
template <class T>
__device__ inline T sum_before(T value, T& total) {
  const int lane = static_cast<int>(threadIdx.x % kLanes);
  T sum = value;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const T other = __shfl_up_sync(kAllLanes, sum, step);
    if (lane >= step) sum += other;
  }
  total = __shfl_sync(kAllLanes, sum, 31);
  return sum - value;
}

}  // namespace imgpipe::png_strips
