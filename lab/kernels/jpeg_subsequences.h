// The work of one thread in the variant "subsequences": it decodes 128 bytes of a scan, bit by bit. It starts
// from a guess, then from the end of the previous subsequence, and finally writes coefficients.
#pragma once

#include <cstdint>

#include "lab/kernels/jpeg_naive.h"

namespace imgpipe {

inline constexpr std::int64_t kNaiveSubsequenceBits = 1024;

// The decoder's state between two symbols.
struct SymbolState {
  std::int64_t bit = 0;       // in the segment
  std::int32_t position = 0;  // next coefficient, in zigzag order
  std::int32_t block = 0;     // in the MCU
  friend IMGPIPE_HOST_DEVICE bool operator==(const SymbolState& a, const SymbolState& b) {
    return a.bit == b.bit && a.position == b.position && a.block == b.block;
  }
};

// Totals of the blocks that begin in consecutive subsequences; they restart where a segment starts.
struct BlockTotals {
  std::int64_t blocks = 0;
  std::int32_t dc[3] = {0, 0, 0};
  bool starts = false;

  // Adds the totals of the following subsequences.
  IMGPIPE_HOST_DEVICE void add(const BlockTotals& more) {
    if (more.starts) *this = {};
    starts = starts || more.starts;
    blocks += more.blocks;
    for (int c = 0; c < 3; ++c) dc[c] += more.dc[c];
  }
};

struct NaiveSubsequence {
  ScanSegment segment;
  std::uint32_t image = 0;
  std::uint32_t index_of_segment = 0;  // in its image
  std::int64_t first_bit = 0;          // in the segment
  [[nodiscard]] IMGPIPE_HOST_DEVICE bool starts_segment() const { return first_bit == 0; }
  [[nodiscard]] IMGPIPE_HOST_DEVICE std::int64_t end_bit() const {
    const std::int64_t bits = std::int64_t{segment.bytes} * 8;
    return first_bit + kNaiveSubsequenceBits < bits ? first_bit + kNaiveSubsequenceBits : bits;
  }
};

// Decodes one symbol. Skips invalid codes in a manner that depends only on the state.
IMGPIPE_HOST_DEVICE inline void skim_symbol(const NaiveScan& scan, NaiveBits& bits, SymbolState& state,
                                            BlockTotals& sums) {
  const int c = scan.component_of_block[state.block];
  const bool dc = state.position == 0;
  const int symbol = bits.symbol(dc ? scan.component[c].dc : scan.component[c].ac);
  const int size = symbol < 0 ? 0 : symbol & 15;
  const int value = bits.number(size);
  if (dc) {
    ++sums.blocks;
    sums.dc[c] += value;
    state.position = 1;
  } else if (symbol < 0 || (size == 0 && symbol >> 4 != 15)) {
    state.position = kBlockSamples;
  } else {
    state.position += (symbol >> 4) + 1;
  }
  if (state.position >= kBlockSamples) {
    state.position = 0;
    state.block = state.block + 1 == scan.blocks_in_mcu ? 0 : state.block + 1;
  }
  state.bit = bits.at();
}

// Decodes all symbols that begin in the subsequence, from `state` on.
IMGPIPE_HOST_DEVICE inline void skim_subsequence(const NaiveScan& scan, const std::uint8_t* stream,
                                                 const NaiveSubsequence& one, SymbolState& state,
                                                 BlockTotals& sums) {
  NaiveBits bits(stream + one.segment.first_byte, one.segment.bytes, state.bit);
  sums = {};
  sums.starts = one.starts_segment();
  while (bits.at() < one.end_bit()) skim_symbol(scan, bits, state, sums);
}

// Decodes the blocks that begin in the subsequence; `before` is the total of the segment's earlier
// subsequences. Returns false if the data is invalid. Sets `ended` if the segment's last block is decoded and
// no data follows.
IMGPIPE_HOST_DEVICE inline bool write_subsequence(const NaiveScan& scan, const std::uint8_t* stream,
                                                  const NaiveSubsequence& one, SymbolState state,
                                                  const BlockTotals& before, std::int16_t* coefficients,
                                                  bool& ended) {
  NaiveBits bits(stream + one.segment.first_byte, one.segment.bytes, state.bit);
  BlockTotals ignored;
  while (state.position != 0 && bits.at() < one.end_bit()) skim_symbol(scan, bits, state, ignored);
  const std::int64_t first_mcu = one.index_of_segment * scan.restart_interval;
  const std::int64_t rest = scan.mcus - first_mcu;
  const std::int64_t mcus = rest < scan.restart_interval ? rest : scan.restart_interval;
  std::int32_t dc[3] = {before.dc[0], before.dc[1], before.dc[2]};
  ended = false;
  for (std::int64_t i = before.blocks; i < mcus * scan.blocks_in_mcu && bits.at() < one.end_bit(); ++i) {
    const int c = scan.component_of_block[state.block];
    std::int16_t* block = coefficients + (first_mcu * scan.blocks_in_mcu + i) * kBlockSamples;
    if (!decode_block_naively(scan, c, bits, dc[c], block)) return false;
    state.block = state.block + 1 == scan.blocks_in_mcu ? 0 : state.block + 1;
    ended = i + 1 == mcus * scan.blocks_in_mcu && bits.ended();
  }
  return true;
}

}  // namespace imgpipe
