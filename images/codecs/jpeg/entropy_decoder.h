// Decodes the Huffman codes of a baseline scan (ITU-T T.81, F.2.2), from the true state or from a guess.
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

// The longest block: 64 codes of 16 bits, each followed by 15 bits.
inline constexpr std::int64_t kMaxBlockBytes = 248;
// Bytes that the decoder may read past the end of its input; their values do not matter.
inline constexpr std::int64_t kEntropyMargin = 2 * kMaxBlockBytes + 16;

// Lists grow by this many blocks at a time.
inline constexpr std::int64_t kBatchBlocks = 64;

// The Huffman tables for the blocks of an MCU.
struct EntropyTables {
  std::array<HuffmanDecoder, 4> dc{}, ac{};
  int blocks_in_mcu = 1;
  std::array<const HuffmanDecoder*, 6> dc_of_block{}, ac_of_block{};
  std::array<std::uint8_t, 6> component_of_block{};
  // The fewest bits of an AC coefficient and of an MCU, for memory bounds.
  int min_coefficient_bits = 1, min_mcu_bits = 1;

  EntropyTables() = default;
  EntropyTables(const EntropyTables&) = delete;  // points into itself
  EntropyTables& operator=(const EntropyTables&) = delete;
  // Returns false for codes that libjpeg refuses.
  [[nodiscard]] bool make(const BaselineScan& scan);
};

// Decoded blocks in the order of the scan, with their coefficients.
struct BlockList {
  RawBuffer<CoefficientBlock> blocks;
  RawBuffer<Coefficient> coefficients;
  // Limits on the capacities of the lists. A capacity exceeds its limit only if the list's size does.
  std::size_t max_spare_blocks = std::numeric_limits<std::size_t>::max();
  std::size_t max_spare_coefficients = std::numeric_limits<std::size_t>::max();
};

// A position between two blocks.
struct EntropyState {
  std::int64_t bit = 0;              // offset from the start of the bytes
  int block = 0;                     // the next block's index in its MCU
  std::array<std::int32_t, 3> dc{};  // DC coefficient of each component's last block
};

// Returns whether the sums of DC differences are far from the limits of 32 bits. Newer versions of
// libjpeg-turbo reject sums beyond those limits; older ones wrap.
[[nodiscard]] bool dc_sums_in_range(const EntropyState& state);

struct EntropyLimits {
  std::int64_t blocks = 0;   // decode at most this many
  std::int64_t end_bit = 0;  // start no block at or after this bit
};

enum class EntropyEnd {
  limit,    // decoded the requested blocks, or reached end_bit
  damaged,  // invalid code, block of more than 64 coefficients, or implausible DC coefficient
};

// Decodes blocks from `state` on, and moves `state` past the last whole block. `bytes`: entropy-coded data
// without stuffing, followed by kEntropyMargin more bytes. A block may end after end_bit. `starts` receives
// the bit offsets of the first blocks; it may be empty.
[[nodiscard]] EntropyEnd decode_blocks(const EntropyTables& tables, const std::uint8_t* bytes,
                                       const EntropyLimits& limits, EntropyState& state, BlockList& out,
                                       std::span<std::uint32_t> starts);

}  // namespace imgpipe
