// PNG's filters on four bytes of a row at a time, chosen as on the host (images/codecs/png/png_filter.h).
#pragma once

#include <cstdint>

#include "images/host_device.h"

namespace imgpipe::png_strips {

enum Filter : std::uint32_t { kNone, kSub, kUp, kAverage, kPaeth, kFilters };

// Four bytes x of a row; a is to their left, b above them, c above a.
struct FilterWords {
  std::uint32_t x, a, b, c;
};

// Expands each of four bits to a byte of ones.
IMGPIPE_HOST_DEVICE constexpr std::uint32_t byte_mask(std::uint32_t bits) {
  return ((bits & 15) * 0x00204081U & 0x01010101U) * 255U;
}

// Subtracts bytewise, modulo 256.
IMGPIPE_HOST_DEVICE constexpr std::uint32_t minus_bytes(std::uint32_t x, std::uint32_t y) {
  constexpr std::uint32_t kHigh = 0x80808080U;
  return ((x | kHigh) - (y & ~kHigh)) ^ ((x ^ ~y) & kHigh);
}
// Averages bytewise, rounded down.
IMGPIPE_HOST_DEVICE constexpr std::uint32_t mean_bytes(std::uint32_t x, std::uint32_t y) {
  return (x & y) + ((x ^ y) >> 1 & 0x7F7F7F7FU);
}

IMGPIPE_HOST_DEVICE inline std::uint32_t distances(std::uint32_t x, std::uint32_t y) {
#ifdef __CUDA_ARCH__
  return __vabsdiffu4(x, y);
#else
  std::uint32_t all = 0;
  for (int i = 0; i < 32; i += 8) {
    const std::uint32_t p = x >> i & 255;
    const std::uint32_t q = y >> i & 255;
    all |= (p > q ? p - q : q - p) << i;
  }
  return all;
#endif
}

// The minima and maxima of the 16-bit halves of two words.
struct Ordered {
  std::uint32_t low, high;
};
IMGPIPE_HOST_DEVICE inline Ordered ordered_halves(std::uint32_t x, std::uint32_t y) {
#ifdef __CUDA_ARCH__
  return {__vminu2(x, y), __vmaxu2(x, y)};
#else
  const auto half = [](std::uint32_t v, int i) { return v >> i & 0xFFFF; };
  Ordered all{};
  for (int i = 0; i < 32; i += 16) {
    const bool less = half(x, i) < half(y, i);
    all.low |= half(less ? x : y, i) << i;
    all.high |= half(less ? y : x, i) << i;
  }
  return all;
#endif
}
// Fills each half with its highest bit.
IMGPIPE_HOST_DEVICE inline std::uint32_t sign_halves(std::uint32_t x) {
#ifdef __CUDA_ARCH__
  std::uint32_t signs;
  asm("prmt.b32 %0, %1, 0, 0xbb99;" : "=r"(signs) : "r"(x));
  return signs;
#else
  return (x >> 15 & 0x00010001U) * 0xFFFFU;
#endif
}

// For each 16-bit half, returns the one of a, b and c that is nearest to a + b - c; a wins ties, then b. With
// t = 3c - (a + b): the smaller of a and b if t >= the larger, the larger if t <= the smaller, otherwise c.
IMGPIPE_HOST_DEVICE inline std::uint32_t paeth_halves(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const Ordered of = ordered_halves(a, b);
  const std::uint32_t t = 3 * c + 0x80008000U - a - b;  // the 0x8000 prevent borrows between halves
  const std::uint32_t takes_low = sign_halves(t - of.high);
  const std::uint32_t above_low = sign_halves(t - of.low - 0x00010001U);
  return (above_low & ((takes_low & of.low) | (~takes_low & c))) | (~above_low & of.high);
}
IMGPIPE_HOST_DEVICE inline std::uint32_t paeth_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  constexpr std::uint32_t kEven = 0x00FF00FFU;
  return paeth_halves(a & kEven, b & kEven, c & kEven) |
         paeth_halves(a >> 8 & kEven, b >> 8 & kEven, c >> 8 & kEven) << 8;
}

template <Filter F>
IMGPIPE_HOST_DEVICE inline std::uint32_t predicted_word(const FilterWords& n) {
  if constexpr (F == kSub) return n.a;
  if constexpr (F == kUp) return n.b;
  if constexpr (F == kAverage) return mean_bytes(n.a, n.b);
  if constexpr (F == kPaeth) return paeth_bytes(n.a, n.b, n.c);
  return 0;
}
template <Filter F>
IMGPIPE_HOST_DEVICE inline std::uint32_t filtered_word(const FilterWords& n) {
  return F == kNone ? n.x : minus_bytes(n.x, predicted_word<F>(n));
}

// Returns `sum` plus the absolute values of four signed bytes.
IMGPIPE_HOST_DEVICE inline std::uint32_t add_magnitudes(std::uint32_t bytes, std::uint32_t sum) {
#ifdef __CUDA_ARCH__
  std::uint32_t all;
  asm("vabsdiff4.u32.s32.s32.add %0, %1, %2, %3;" : "=r"(all) : "r"(bytes), "r"(0), "r"(sum));
  return all;
#else
  for (int i = 0; i < 32; i += 8) {
    const std::uint32_t byte = bytes >> i & 255;
    sum += byte < 128 ? byte : 256 - byte;
  }
  return sum;
#endif
}
// Returns `sum` plus the absolute values of four residuals as signed bytes, ignoring masked bytes.
template <Filter F>
IMGPIPE_HOST_DEVICE inline std::uint32_t add_residuals(const FilterWords& n, std::uint32_t mask,
                                                       std::uint32_t sum) {
  const std::uint32_t sizes = F == kNone ? n.x : distances(n.x, predicted_word<F>(n));
  return add_magnitudes(sizes & mask, sum);
}

// Returns the four bytes that begin at bit `shift` (0..31) of two adjacent words.
IMGPIPE_HOST_DEVICE inline std::uint32_t joined_words(std::uint32_t low, std::uint32_t high, unsigned shift) {
#ifdef __CUDA_ARCH__
  return __funnelshift_r(low, high, shift);
#else
  return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> shift);
#endif
}

// Returns the first filter with the least sum. Without a row above, only kNone and kSub are considered.
template <class Sum>
IMGPIPE_HOST_DEVICE inline Filter best_filter(const Sum* sums, bool has_above) {
  Filter best = kNone;
  Sum least = sums[kNone];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (unsigned f = kSub; f < kFilters; ++f) {
    if (sums[f] >= least || (f > kSub && !has_above)) continue;
    best = static_cast<Filter>(f);
    least = sums[f];
  }
  return best;
}

}  // namespace imgpipe::png_strips
