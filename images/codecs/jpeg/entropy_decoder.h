// The Huffman codes of a baseline scan to coefficients (ITU-T T.81, F.2.2), from anywhere in it: with true
// state, or from a guess.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "images/codecs/jpeg/baseline_scan.h"
#include "images/codecs/jpeg/coefficients.h"
#include "images/codecs/jpeg/huffman_decoder.h"
#include "images/codecs/jpeg/raw_buffer.h"

namespace imgpipe {

// No block takes more: 64 codes of 16 bits with 15 bits each behind them.
inline constexpr std::int64_t kMostBlockBytes = 248;
// What the decoder may read behind the last byte that it is given; what is there does not matter.
inline constexpr std::int64_t kEntropyMargin = 2 * kMostBlockBytes + 16;

// Lists grow for so many blocks at a time.
inline constexpr std::int64_t kBatchBlocks = 64;

// What the blocks of an MCU are decoded by.
struct EntropyTables {
  std::array<HuffmanDecoder, 4> dc{}, ac{};
  int blocks_in_mcu = 1;
  std::array<const HuffmanDecoder*, 6> dc_of_block{}, ac_of_block{};
  std::array<std::uint8_t, 6> component_of_block{};
  // The fewest bits of an AC coefficient and of an MCU; for bounds of memory.
  int least_coefficient_bits = 1, least_mcu_bits = 1;

  EntropyTables() = default;
  EntropyTables(const EntropyTables&) = delete;  // points into itself
  EntropyTables& operator=(const EntropyTables&) = delete;
  // False where the scan's codes are such as libjpeg refuses.
  [[nodiscard]] bool make(const BaselineScan& scan);
};

// Decoded blocks in the order of the scan, with their coefficients.
struct BlockList {
  RawBuffer<CoefficientBlock> blocks;
  RawBuffer<Coefficient> coefficients;
  // They grow no further than to this for what may come; where more comes they do.
  std::size_t most_blocks = std::numeric_limits<std::size_t>::max();
  std::size_t most_coefficients = std::numeric_limits<std::size_t>::max();
};

// A place between two blocks.
struct EntropyState {
  std::int64_t bit = 0;              // from the start of the bytes
  int block = 0;                     // of an MCU: the next one
  std::array<std::int32_t, 3> dc{};  // by component, of the last block
};

// Sums of DC differences that are far from the ends of 32 bits. Newer versions of libjpeg-turbo refuse those
// that pass them, older ones wrap.
[[nodiscard]] bool is_plain(const EntropyState& state);

struct EntropyLimits {
  std::int64_t blocks = 0;   // decode no more than so many
  std::int64_t end_bit = 0;  // begin none at or behind this bit
};

enum class EntropyEnd {
  limit,    // as many blocks as wanted, or at end_bit
  damaged,  // no code, a block of more than 64 coefficients, or a DC coefficient beyond all reason
};

// Decodes blocks from `state` on and moves it behind the last one that is whole. `bytes`: entropy-coded data
// without stuffing, with kEntropyMargin bytes behind it; a block may end behind end_bit. `starts`: takes the
// bit at which each of the first blocks begins; may be empty.
[[nodiscard]] EntropyEnd decode_blocks(const EntropyTables& tables, const std::uint8_t* bytes,
                                       const EntropyLimits& limits, EntropyState& state, BlockList& out,
                                       std::span<std::uint32_t> starts);

}  // namespace imgpipe
