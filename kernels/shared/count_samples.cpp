// hist on the host. A count is a load, an addition and a store, and the next count of the same value must
// wait for the store, so several tables take turns. They fit into the L1 cache. Their distance is not a power
// of two, because the processor first compares 12 bits of addresses and would confuse a value's counters in
// different tables. One thread of a Xeon (Sapphire Rapids), 47 MP photo pattern | constant, 2026-11-20: 4
// tables 25.9 | 30.8 ms, 8 tables 19.8 | 27.6, 16 tables 16.4 | 16.8, 8 tables 1024 bytes apart 22.6; 16
// tables with prefetching, as the hardware prefetcher stops at the end of a page, 14.2. SIMD does not help.
#include "kernels/shared/count_samples.h"

#include <cstring>

#include "kernels/pixel.h"

namespace imgpipe {
namespace {

constexpr int kTables = 16;
constexpr std::int64_t kAhead = 2048;  // samples to prefetch ahead
constexpr std::int64_t kCacheLine = 64;
constexpr int kTablePitch = kBins + 16;
using Tables = std::uint32_t[kTables][kTablePitch];

void count_row(const Sample8* row, std::int64_t width, Tables& tables) {
  std::int64_t x = 0;
  for (; x + kTables <= width; x += kTables) {
    if (x % kCacheLine == 0) __builtin_prefetch(row + x + kAhead);
    for (int half = 0; half < kTables; half += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, row + x + half, sizeof word);
      for (int i = 0; i < 8; ++i, word >>= 8) ++tables[half + i][word & 0xFF];
    }
  }
  for (; x < width; ++x) ++tables[0][row[x]];
}

void add_up(const Tables& tables, std::uint64_t* counts) {
  for (int bin = 0; bin < kBins; ++bin) {
    for (const auto& table : tables) counts[bin] += table[bin];
  }
}

// A single table, the band's own: more would exceed the L2 cache (65,536 counters take 512 KiB). Flat areas
// are counted eight samples at a time. Elsewhere two words take turns, as the shifts of one wait for each
// other. AMD EPYC, 12 MP, 2026-11-27: 14.7 ms instead of 15.6 with one word of four samples; multiples of 256
// take 1.1 to 1.2 times as long as with one.
void count_row16(const Sample16* row, std::int64_t width, std::uint64_t* counts) {
  constexpr std::uint64_t kEach = 0x0001'0001'0001'0001;
  std::int64_t x = 0;
  for (; x + 8 <= width; x += 8) {
    if (x % (kCacheLine / 2) == 0) __builtin_prefetch(row + x + kAhead / 2);
    std::uint64_t words[2];
    std::memcpy(words, row + x, sizeof words);
    if (words[0] == words[1] && words[0] == (words[0] & 0xFFFF) * kEach) {
      counts[words[0] & 0xFFFF] += 8;
      continue;
    }
    for (int i = 0; i < 4; ++i) {
      for (std::uint64_t& word : words) {
        ++counts[word & 0xFFFF];
        word >>= 16;
      }
    }
  }
  for (; x < width; ++x) ++counts[row[x]];
}

// Not inlined: inlining it together with count_bytes() takes 7 % more instructions (GCC 12).
[[gnu::noinline]] void count_words(const StageCall<Host>& call, const Band& band) {
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const Plane<const Sample16, Host> plane = call.in.plane<Sample16>(static_cast<std::size_t>(c));
    for (std::int64_t y = band.first; y < band.end; ++y)
      count_row16(plane.row(y - band.in_top), plane.width, call.histogram.row(c));
  }
}

void count_bytes(const StageCall<Host>& call, const Band& band) {
  constexpr std::int64_t kMaxPixels = std::int64_t{1} << 31;  // longer than a row, half a counter's range
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    Tables tables = {};
    const ConstHostPlane plane = call.in.plane<Sample8>(static_cast<std::size_t>(c));
    std::uint64_t* counts = call.histogram.row(c);
    std::int64_t counted = 0;
    for (std::int64_t y = band.first; y < band.end; ++y) {
      if (counted + plane.width > kMaxPixels) {
        add_up(tables, counts);
        std::memset(tables, 0, sizeof tables);
        counted = 0;
      }
      count_row(plane.row(y - band.in_top), plane.width, tables);
      counted += plane.width;
    }
    add_up(tables, counts);
  }
}

}  // namespace

void hist_cpu(const StageCall<Host>& call, const Band& band) {
  is_wide(call.in.type.sample) ? count_words(call, band) : count_bytes(call, band);
}

}  // namespace imgpipe
