// PNG's filters for four bytes of a row at a time, as the host's writer chooses and makes them
// (images/codecs/png/png_filter.h).
#pragma once

#include <cstdint>

#include "images/host_device.h"

namespace imgpipe::png_strips {

enum Filter : std::uint32_t { kNone, kSub, kUp, kAverage, kPaeth, kFilters };

// Four bytes of a row x, with those to their left a, above them b, and above a c.
struct FilterWords {
  std::uint32_t x, a, b, c;
};

// Bit i of four to all bits of byte i.
IMGPIPE_HOST_DEVICE constexpr std::uint32_t byte_mask(std::uint32_t bits) {
  return ((bits & 15) * 0x00204081U & 0x01010101U) * 255U;
}

// Byte by byte, modulo 256.
IMGPIPE_HOST_DEVICE constexpr std::uint32_t minus_bytes(std::uint32_t x, std::uint32_t y) {
  constexpr std::uint32_t kHigh = 0x80808080U;
  return ((x | kHigh) - (y & ~kHigh)) ^ ((x ^ ~y) & kHigh);
}
// Half the sum, rounded down.
IMGPIPE_HOST_DEVICE constexpr std::uint32_t mean_bytes(std::uint32_t x, std::uint32_t y) {
  return (x & y) + ((x ^ y) >> 1 & 0x7F7F7F7FU);
}

// |x - y|, byte by byte.
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

// Of two halves of 16 bits. The bytes of x and y stand in halves of their own.
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
// All bits of a half whose highest bit is set.
IMGPIPE_HOST_DEVICE inline std::uint32_t sign_halves(std::uint32_t x) {
#ifdef __CUDA_ARCH__
  std::uint32_t signs;
  asm("prmt.b32 %0, %1, 0, 0xbb99;" : "=r"(signs) : "r"(x));
  return signs;
#else
  return (x >> 15 & 0x00010001U) * 0xFFFFU;
#endif
}

// The neighbours nearest to a + b - c; a before b before c where distances are equal. That is: with
// t = 3c - (a + b), the less of a and b where t is no less than the greater one, the greater one where t is
// no more than the less, else c.
IMGPIPE_HOST_DEVICE inline std::uint32_t paeth_halves(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const Ordered of = ordered_halves(a, b);
  const std::uint32_t t = 3 * c + 0x80008000U - a - b;  // and 0x8000, so that no half borrows
  const std::uint32_t takes_low = sign_halves(t - of.high);
  const std::uint32_t above_low = sign_halves(t - of.low - 0x00010001U);
  return (above_low & ((takes_low & of.low) | (~takes_low & c))) | (~above_low & of.high);
}
IMGPIPE_HOST_DEVICE inline std::uint32_t paeth_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  constexpr std::uint32_t kEven = 0x00FF00FFU;
  return paeth_halves(a & kEven, b & kEven, c & kEven) |
         paeth_halves(a >> 8 & kEven, b >> 8 & kEven, c >> 8 & kEven) << 8;
}

// What a filter takes off x.
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

// `sum` and the absolute values of four signed bytes.
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
// `sum` and the absolute values of four residuals, as signed bytes: their sign does not matter.
template <Filter F>
IMGPIPE_HOST_DEVICE inline std::uint32_t add_residuals(const FilterWords& n, std::uint32_t mask,
                                                       std::uint32_t sum) {
  const std::uint32_t sizes = F == kNone ? n.x : distances(n.x, predicted_word<F>(n));
  return add_magnitudes(sizes & mask, sum);
}

// Bytes from `shift` bits (0..31) of two words in a row on.
IMGPIPE_HOST_DEVICE inline std::uint32_t joined_words(std::uint32_t low, std::uint32_t high, unsigned shift) {
#ifdef __CUDA_ARCH__
  return __funnelshift_r(low, high, shift);
#else
  return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> shift);
#endif
}

// The first of the least of five sums; of the first two only where there is no row above.
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
