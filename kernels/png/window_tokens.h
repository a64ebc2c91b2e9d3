// A strip's tokens (images/codecs/png/strip_rule.h) by windows of 32 bytes, one per thread. A window needs
// only two numbers about the runs that extend beyond it.
#pragma once

#include <cstdint>

#include "images/codecs/png/strip_tokens.h"
#include "images/host_device.h"

namespace imgpipe::png_strips {

inline constexpr unsigned kWindowBytes = 32;

IMGPIPE_HOST_DEVICE constexpr unsigned trailing_zeros(std::uint32_t bits) {
#ifdef __CUDA_ARCH__
  return static_cast<unsigned>(__ffs(static_cast<int>(bits)) - 1) & 63;
#else
  return bits == 0 ? 63 : static_cast<unsigned>(__builtin_ctz(bits));
#endif
}
IMGPIPE_HOST_DEVICE constexpr unsigned low_ones(std::uint32_t bits) {
  return ~bits == 0 ? 32 : trailing_zeros(~bits);
}
IMGPIPE_HOST_DEVICE constexpr unsigned high_ones(std::uint32_t bits) {
#ifdef __CUDA_ARCH__
  return static_cast<unsigned>(__clz(static_cast<int>(~bits)));
#else
  return ~bits == 0 ? 32 : static_cast<unsigned>(__builtin_clz(~bits));
#endif
}

// Returns a word with bit 28 + i set if byte i is 0.
IMGPIPE_HOST_DEVICE constexpr std::uint32_t equal_bytes_high(std::uint32_t differences) {
  constexpr std::uint32_t kLow = 0x7F7F7F7FU;
  const std::uint32_t zeros = ~(((differences & kLow) + kLow) | differences) & ~kLow;  // bit 7 of a byte
  return zeros * 0x00204081U;
}

// A run of at least kMinRun bytes.
struct Run {
  std::int32_t first;    // offset from the window's first byte
  std::uint32_t length;  // including bytes outside the window
};

// Calls use(run) in order for the runs with bytes in a window. Bit i of `equal`: byte i equals its
// predecessor. `in`, `out`: the lengths of such sequences just before and after the window, in total below
// 2^31.
template <class Use>
IMGPIPE_HOST_DEVICE inline void for_each_run(std::uint32_t equal, std::uint32_t in, std::uint32_t out,
                                             const Use& use) {
  static_assert(kMinRun == kWindowBytes / 2);
  const unsigned leading = low_ones(equal);
  const unsigned trailing = leading == kWindowBytes ? 0 : high_ones(equal);
  // The positions where kMinRun ones in a row start. All belong to one run, because a window cannot hold two.
  std::uint32_t starts = equal & equal >> 1;
  starts &= starts >> 2;
  starts &= starts >> 4;
  starts &= starts >> 8;
  const unsigned inner = starts == 0 ? 0 : trailing_zeros(starts);
  const unsigned inner_length = inner == 0 ? 0 : low_ones(equal >> inner);
  Run runs[3] = {
      {-static_cast<std::int32_t>(in), leading == 0 ? 0 : in + leading + (leading == kWindowBytes ? out : 0)},
      {static_cast<std::int32_t>(inner), inner + inner_length < kWindowBytes ? inner_length : 0},
      {static_cast<std::int32_t>(kWindowBytes - trailing), trailing == 0 ? 0 : trailing + out}};
  // There is usually at most one run; the loop lets the device keep only one copy of use().
#ifdef __CUDA_ARCH__
#pragma unroll 1
#endif
  for (int i = 0; i < 3; ++i) {
    if (runs[0].length >= kMinRun) use(runs[0]);
    runs[0] = runs[1];
    runs[1] = runs[2];
    runs[2].length = 0;
  }
}

// The lengths of the runs that begin in a window, 0 for none: one of at least kMinRun bytes that ends in
// it, and one that reaches its end.
struct StartingRuns {
  IMGPIPE_HOST_DEVICE StartingRuns(std::uint32_t equal, std::uint32_t in, std::uint32_t out) {
    const unsigned trailing = high_ones(equal);
    if (trailing > 0 && (trailing < kWindowBytes || in == 0)) last = trailing + out;
    // The starts of kMinRun ones in a row, except for a run that began earlier.
    std::uint32_t starts = equal & equal >> 1;
    starts &= starts >> 2;
    starts &= starts >> 4;
    starts &= starts >> 8;
    if (starts == 0) return;
    const unsigned first = trailing_zeros(starts);
    const unsigned length = low_ones(equal >> first);
    if (first + length == kWindowBytes || (first == 0 && in > 0)) return;
    inner = length;
    inner_last = first + length - 1;
  }

  std::uint32_t inner = 0;
  unsigned inner_last = 0;  // its last byte
  std::uint32_t last = 0;
};

// A run is cut into copies of kMaxCopy and a shorter last copy, unless the rest is too short for a copy.
struct RunCut {
  IMGPIPE_HOST_DEVICE constexpr explicit RunCut(std::uint32_t length)
      : whole(length - length % kLongest), rest(length - whole < kMinCopy ? 0 : length - whole) {}

  static constexpr std::uint32_t kLongest = kMaxCopy;
  std::uint32_t whole;  // bytes in the longest copies
  std::uint32_t rest;   // bytes in the last, shorter copy; 0: none
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::uint32_t copied() const { return whole + rest; }
  // Returns the first copy at byte `from` of the run or later; at least copied() if there is none.
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::uint32_t next_copy(std::uint32_t from) const {
    return (from + kLongest - 1) / kLongest * kLongest;
  }
};

// The copies that begin in bytes from..end-1 of a run, and the bytes among these that copies cover.
struct RunShare {
  IMGPIPE_HOST_DEVICE constexpr RunShare(std::uint32_t length, std::uint32_t from, std::uint32_t end) {
    const RunCut cut(length);
    const std::uint32_t whole_end = end < cut.whole ? end : cut.whole;
    const std::uint32_t first = cut.next_copy(from);
    if (first < whole_end) longest = (whole_end - first + cut.kLongest - 1) / cut.kLongest;
    if (cut.whole >= from && cut.whole < end) rest = cut.rest;
    const std::uint32_t copied_end = end < cut.copied() ? end : cut.copied();
    if (from < copied_end) copied = copied_end - from;
  }

  std::uint32_t longest = 0;  // copies of kMaxCopy
  std::uint32_t rest = 0;     // the length of a shorter one, or 0
  std::uint32_t copied = 0;   // bytes that copies cover
};

struct WindowCopies {
  std::uint32_t copied = 0;    // bit i: a copy covers byte i
  std::uint32_t starts = 0;    // bit i: a copy begins at byte i
  std::uint16_t lengths[3]{};  // of the copies in order: at most one per run
  unsigned count = 0;

  IMGPIPE_HOST_DEVICE void add(const Run& run) {
    const RunCut cut(run.length);
    const std::int64_t end = std::int64_t{run.first} + cut.copied();
    const unsigned from = run.first < 0 ? 0 : static_cast<unsigned>(run.first);
    if (end > from) {
      const unsigned bytes = static_cast<unsigned>((end < kWindowBytes ? end : kWindowBytes) - from);
      copied |= (bytes == kWindowBytes ? ~0U : (1U << bytes) - 1) << from;
    }
    // The next copy begins kMaxCopy bytes later, outside the window.
    const std::uint32_t copy = cut.next_copy(from - static_cast<std::uint32_t>(run.first));
    const std::int64_t at = std::int64_t{run.first} + copy;
    if (copy >= cut.copied() || at >= kWindowBytes) return;
    starts |= 1U << at;
    const std::uint16_t length = static_cast<std::uint16_t>(copy < cut.whole ? cut.kLongest : cut.rest);
    // Only constant indices: the copies stay in registers.
    if (count == 0) lengths[0] = length;
    if (count == 1) lengths[1] = length;
    if (count == 2) lengths[2] = length;
    ++count;
  }
};

// Returns a copy's code for the packer as code << 8 | bits: the code of its length, the extra bits, and the
// only distance code, a single 0; at most 21 bits.
IMGPIPE_HOST_DEVICE inline std::uint32_t copy_entry(const std::uint32_t* table, std::uint32_t length) {
  const LengthSymbol symbol = length_symbol(length);
  const std::uint32_t entry = table[symbol.symbol];
  const std::uint32_t bits = entry & 255;
  return (entry >> 8 | std::uint32_t{symbol.extra} << bits) << 8 | (bits + symbol.extra_bits + 1);
}
IMGPIPE_HOST_DEVICE inline std::uint32_t copy_bits(const std::uint32_t* table, std::uint32_t length) {
  return copy_entry(table, length) & 255;
}

}  // namespace imgpipe::png_strips
