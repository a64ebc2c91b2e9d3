// Shared by the kernels that work on tiles.
#pragma once

#include <cuda_runtime.h>

#include "kernels/png/group.h"

namespace imgpipe::png_strips {

constexpr unsigned kAllLanes = 0xFFFFFFFFU;
constexpr unsigned kLanes = 32;
constexpr unsigned kTileWarps = kTileThreads / kLanes;

struct Tile {
  __device__ explicit Tile(const Group& group)
      : picture(image_containing(group, &PngImage::first_tile, blockIdx.x)) {
    const std::uint32_t tile = blockIdx.x - picture.first_tile;
    strip = tile / picture.tiles_per_strip;
    number = tile - strip * picture.tiles_per_strip;
    begin = number * kTileBytes;
    strip_bytes = picture.bytes_of(strip);
    const std::uint32_t left = strip_bytes - begin;
    bytes = left < kTileBytes ? left : kTileBytes;
  }
  // The strip's filtered rows.
  __device__ std::uint8_t* filtered(const Group& group) const {
    return group.filtered + picture.filtered + strip * picture.strip_pitch;
  }
  [[nodiscard]] __device__ bool last_of_strip() const { return begin + bytes == strip_bytes; }

  PngImage picture;
  std::uint32_t strip;   // index in the image
  std::uint32_t number;  // index in the strip
  std::uint32_t begin;   // offset in the strip
  std::uint32_t bytes;
  std::uint32_t strip_bytes;
};

// Returns a mask of the window's valid bytes, given the `bytes` left from its first one.
__device__ inline std::uint32_t low_bits(std::uint32_t bytes) {
  return bytes >= kWindowBytes ? ~0U : (1U << bytes) - 1;
}

// Returns a mask of the bytes that equal the byte before them. `before`: the byte before the window.
__device__ inline std::uint32_t equal_bytes(const std::uint32_t (&words)[8], std::uint32_t before) {
  std::uint32_t equal = 0;
#pragma unroll
  for (int k = 7; k >= 0; --k) {
    const std::uint32_t shifted =
        k == 0 ? words[0] << 8 | before : __funnelshift_l(words[k == 0 ? 0 : k - 1], words[k], 8);
    equal = __funnelshift_l(equal_bytes_high(words[k] ^ shifted), equal, 4);
  }
  return equal;
}

// ---- runs -------------------------------------------------------------------------------------------------

// The lengths of the sequences of bytes equal to their predecessor just before and just after a window.
struct Reach {
  std::uint32_t in, out;
};

// The lengths of such sequences at the ends of a warp's windows.
struct WarpEnds {
  std::uint32_t leading, trailing;
};
constexpr std::uint32_t kWarpBytes = kLanes * kWindowBytes;

// If there is a run of kMinRun bytes, at least half of it lies in one window.
constexpr std::uint32_t kHalfRun = kMinRun / 2;
__device__ inline bool may_have_runs(std::uint32_t equal) {
  std::uint32_t halves = equal & equal >> 1;
  halves &= halves >> 2;
  halves &= halves >> 4;
  static_assert(kHalfRun == 8);
  return halves != 0;
}

// One lane's window among those of its warp.
class WarpRuns {
 public:
  __device__ explicit WarpRuns(std::uint32_t equal)
      : leading_(low_ones(equal)),
        trailing_(high_ones(equal)),
        gaps_(__ballot_sync(kAllLanes, equal != ~0U)) {}

  [[nodiscard]] __device__ WarpEnds ends() const {
    const unsigned first = gaps_ == 0 ? 0 : trailing_zeros(gaps_);
    const unsigned last = gaps_ == 0 ? 0 : highest(gaps_);
    const std::uint32_t leading = __shfl_sync(kAllLanes, leading_, static_cast<int>(first));
    const std::uint32_t trailing = __shfl_sync(kAllLanes, trailing_, static_cast<int>(last));
    if (gaps_ == 0) return {kWarpBytes, kWarpBytes};
    return {first * kWindowBytes + leading, (31 - last) * kWindowBytes + trailing};
  }

  // `of_warp`: the lengths of the sequences just before and just after the warp's windows.
  [[nodiscard]] __device__ Reach reach(Reach of_warp) const {
    const unsigned lane = threadIdx.x % kLanes;
    const std::uint32_t below = gaps_ & ((1U << lane) - 1);
    const unsigned from = below == 0 ? 0 : highest(below);
    const std::uint32_t trailing = __shfl_sync(kAllLanes, trailing_, static_cast<int>(from));
    const std::uint32_t above = lane == 31 ? 0 : gaps_ >> (lane + 1) << (lane + 1);
    const unsigned to = above == 0 ? 31 : trailing_zeros(above);
    const std::uint32_t leading = __shfl_sync(kAllLanes, leading_, static_cast<int>(to));
    return {below == 0 ? of_warp.in + lane * kWindowBytes : (lane - 1 - from) * kWindowBytes + trailing,
            above == 0 ? of_warp.out + (31 - lane) * kWindowBytes : (to - lane - 1) * kWindowBytes + leading};
  }

 private:
  __device__ static unsigned highest(std::uint32_t bits) {
    return 31 - static_cast<unsigned>(__clz(static_cast<int>(bits)));
  }

  std::uint32_t leading_, trailing_;
  std::uint32_t gaps_;  // lanes with a byte that differs from the one before it
};

// `of_tile`: the lengths of the sequences just before and just after the tile.
__device__ inline Reach reach_of_warp(const WarpEnds (&ends)[kTileWarps], Reach of_tile) {
  const unsigned warp = threadIdx.x / kLanes;
  Reach reach{0, 0};
  unsigned at = warp;
  for (; at > 0 && ends[at - 1].trailing == kWarpBytes; --at) reach.in += kWarpBytes;
  reach.in += at > 0 ? ends[at - 1].trailing : of_tile.in;
  at = warp + 1;
  for (; at < kTileWarps && ends[at].leading == kWarpBytes; ++at) reach.out += kWarpBytes;
  reach.out += at < kTileWarps ? ends[at].leading : of_tile.out;
  return reach;
}

// ---- sums -------------------------------------------------------------------------------------------------

template <class T>
__device__ inline T warp_sum(T value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
  return value;
}

// Returns the sum of the values of all lanes before this one; `total`: of all lanes.
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
