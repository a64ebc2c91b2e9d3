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

#ifdef __CUDA_ARCH__
__device__ inline std::uint32_t distances(std::uint32_t x, std::uint32_t y) { return __vabsdiffu4(x, y); }
__device__ inline std::uint32_t least_bytes(std::uint32_t x, std::uint32_t y) { return __vminu4(x, y); }
__device__ inline std::uint32_t most_bytes(std::uint32_t x, std::uint32_t y) { return __vmaxu4(x, y); }
__device__ inline std::uint32_t no_more(std::uint32_t x, std::uint32_t y) { return __vcmpleu4(x, y); }
#else
template <class Of>
constexpr std::uint32_t byte_by_byte(std::uint32_t x, std::uint32_t y, const Of& of) {
  std::uint32_t all = 0;
  for (int i = 0; i < 32; i += 8) all |= (of(x >> i & 255, y >> i & 255) & 255) << i;
  return all;
}
constexpr std::uint32_t distances(std::uint32_t x, std::uint32_t y) {
  return byte_by_byte(x, y, [](std::uint32_t p, std::uint32_t q) { return p > q ? p - q : q - p; });
}
constexpr std::uint32_t least_bytes(std::uint32_t x, std::uint32_t y) {
  return byte_by_byte(x, y, [](std::uint32_t p, std::uint32_t q) { return p < q ? p : q; });
}
constexpr std::uint32_t most_bytes(std::uint32_t x, std::uint32_t y) {
  return byte_by_byte(x, y, [](std::uint32_t p, std::uint32_t q) { return p > q ? p : q; });
}
// All bits of the bytes of x that are no more than those of y.
constexpr std::uint32_t no_more(std::uint32_t x, std::uint32_t y) {
  return byte_by_byte(x, y, [](std::uint32_t p, std::uint32_t q) { return p <= q ? 255U : 0U; });
}
#endif

// The neighbours nearest to a + b - c; a before b before c where distances are equal.
IMGPIPE_HOST_DEVICE inline std::uint32_t paeth_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint32_t to_a = distances(b, c);
  const std::uint32_t to_b = distances(a, c);
  // The distance to c is |to_a - to_b| where c lies strictly between a and b; elsewhere it is to_a + to_b,
  // which never wins.
  const std::uint32_t beside = no_more(c, least_bytes(a, b)) | no_more(most_bytes(a, b), c);
  const std::uint32_t to_c = distances(to_a, to_b) | beside;
  const std::uint32_t takes_a = no_more(to_a, least_bytes(to_b, to_c));
  const std::uint32_t takes_b = no_more(to_b, to_c);
  return (takes_a & a) | (~takes_a & ((takes_b & b) | (~takes_b & c)));
}

template <Filter F>
IMGPIPE_HOST_DEVICE inline std::uint32_t filtered_word(const FilterWords& n) {
  if constexpr (F == kSub) return minus_bytes(n.x, n.a);
  if constexpr (F == kUp) return minus_bytes(n.x, n.b);
  if constexpr (F == kAverage) return minus_bytes(n.x, mean_bytes(n.a, n.b));
  if constexpr (F == kPaeth) return minus_bytes(n.x, paeth_bytes(n.a, n.b, n.c));
  return n.x;
}

// `sum` and the absolute values of four signed bytes.
IMGPIPE_HOST_DEVICE inline std::uint32_t add_magnitudes(std::uint32_t bytes, std::uint32_t sum) {
#ifdef __CUDA_ARCH__
  // Every byte times 1 with its sign.
  std::uint32_t signs;
  asm("prmt.b32 %0, %1, 0, 0xba98;" : "=r"(signs) : "r"(bytes));
  return static_cast<std::uint32_t>(
      __dp4a(static_cast<int>(bytes), static_cast<int>(signs | 0x01010101U), static_cast<int>(sum)));
#else
  for (int i = 0; i < 32; i += 8) {
    const std::uint32_t byte = bytes >> i & 255;
    sum += byte < 128 ? byte : 256 - byte;
  }
  return sum;
#endif
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
  unsigned best = 0;
  for (unsigned f = 1; f < (has_above ? unsigned{kFilters} : 2U); ++f) {
    if (sums[f] < sums[best]) best = f;
  }
  return static_cast<Filter>(best);
}

}  // namespace imgpipe::png_strips
