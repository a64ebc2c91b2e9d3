// The device memory layout of a group of JPEGs during Huffman decoding.
//
//   image   | segment 0                       | segment 1          |  of the staged scan
//           | sub | sub | sub | sub | sub |su.| sub | sub | sub |..|  subsequences: one thread each
//           | tile                  | tile               | tile    |  kTileSubsequences: one block of threads
//
// A subsequence never spans two segments; a tile may.
#pragma once

#include <cstddef>
#include <cstdint>

namespace imgpipe::entropy {

inline constexpr std::uint32_t kSubsequenceBits = 1024;
inline constexpr std::uint32_t kSubsequenceBytes = kSubsequenceBits / 8;
inline constexpr std::uint32_t kSubsequenceWords = kSubsequenceBits / 32;
inline constexpr std::uint32_t kTileSubsequences = 128;
// Tables of one image: at most two per component.
inline constexpr std::uint32_t kMaxTables = 6;

// A decoded code with its symbol:
//
//   bits 4..0    length of the code plus its value, 1..31; 0: look in the table of long codes
//   bits 8..5    length of the value
//   bits 15..9   advance of the zigzag position; kSkipsBlock, kNoCode
using SymbolEntry = std::uint16_t;
inline constexpr std::uint32_t kSkipsBlock = 64;  // end of block
inline constexpr std::uint32_t kNoCode = 127;
inline constexpr std::uint32_t kLookupLength = 10;  // bits
inline constexpr std::uint32_t kLookupEntries = 1U << kLookupLength;
inline constexpr std::uint32_t kLongEntries = kLookupEntries - 1;

// Codes of up to kLookupLength bits are indexed by the next bits of the stream. Longer ones are last in code
// order; they are indexed by the next 16 bits minus long_first.
struct SymbolTable {
  SymbolEntry entries[kLookupEntries];
  SymbolEntry long_entries[kLongEntries];
  std::uint16_t long_first;
};

// A Huffman code by length, as in HuffmanDecoder; decodes codes of any length.
struct CodeLengths {
  std::uint16_t ends[17];  // by length
  std::uint16_t is_dc;
  std::uint16_t first_symbols[17];  // minus the first code of that length; wraps
  std::uint8_t symbols[256];
  std::uint16_t unused;
};

// A block's component and its tables.
//
//   bits 13..0   offset of its DC table, in entries of the image's tables
//   bits 27..14  offset of its AC table
//   bits 31..28  component
inline constexpr std::uint32_t kTableEntries = sizeof(SymbolTable) / sizeof(SymbolEntry);
constexpr std::uint32_t packed_kind(std::uint32_t component, std::uint32_t dc_table, std::uint32_t ac_table) {
  return dc_table * kTableEntries | ac_table * kTableEntries << 14 | component << 28;
}

struct DeviceSegment {
  std::uint32_t first_byte, bytes;  // of the stream
  std::uint32_t first_subsequence;  // of the image
};

struct DeviceImage {
  const std::uint32_t* stream;
  std::uint32_t stream_words;
  std::int16_t* coefficients;
  std::uint32_t first_segment, segments;  // indices into the arrays of all images, here and below
  std::uint32_t first_subsequence, subsequences;
  std::uint32_t first_tile, tiles;
  std::uint32_t first_table, tables;
  std::uint32_t segment_blocks, blocks;  // of each segment but the last; of the image
  std::uint32_t blocks_in_mcu;
  std::uint32_t kinds[6];  // by block of an MCU: packed_kind()
  std::uint32_t number;    // of the task
};

// A decoder's state at the start of a subsequence, at the first symbol that begins in it.
//
//   bits 4..0    bits after its start
//   bits 10..5   next zigzag position
//   bits 13..11  block of an MCU
using PackedState = std::uint32_t;

struct alignas(8) Record {
  std::uint16_t entry, exit;  // PackedState
  std::uint16_t first_bit;    // bit at which the first block in it begins, or kNoBlock
  std::uint16_t first_block;  // of an MCU
};
inline constexpr std::uint16_t kNoBlock = 0xFFFF;

// Totals of the blocks that begin in one or several subsequences. DC sums wrap.
struct alignas(16) Sums {
  std::uint32_t blocks;
  std::uint32_t dc[3];
};

struct TileEnd {
  std::uint32_t exit : 16;
  std::uint32_t has_start : 1;  // a segment begins in it
};

// A verdict; any other value means damage.
inline constexpr std::uint32_t kIntact = 0x4F4B0000;

// All arrays of a group; passed by value to kernels.
struct GroupView {
  // uploaded
  const DeviceImage* images;
  const std::uint32_t* tile_ends;    // by image: number of tiles up to and including it
  const std::uint32_t* bridge_ends;  // the same in blocks of kBridgeWarps tiles
  const CodeLengths* codes;          // by table
  const DeviceSegment* segments;
  // work
  SymbolTable* tables;
  Record* records;      // by subsequence
  Sums* sums;           // by subsequence
  TileEnd* tile_exits;  // by tile, before bridges
  Sums* tile_sums;      // by tile, of the last segment in it
  Sums* tile_bases;     // by tile, of the first segment in it: sums before the tile
  // results
  std::uint32_t* verdicts;  // by task
  std::uint32_t image_count, tile_count, bridge_count, table_count, task_count;
};
// Each warp joins one tile to the one before it.
inline constexpr std::uint32_t kBridgeThreads = 128;
inline constexpr std::uint32_t kBridgeWarps = kBridgeThreads / 32;
// Limits an image's sequential decoding to some tenths of a second. The cost is the number of symbols plus
// kSubsequenceCost per subsequence.
inline constexpr std::uint32_t kRepairBudget = 1U << 19;
inline constexpr std::uint32_t kSubsequenceCost = 16;
// From this round on, a tile uses the faster path through repeated MCUs.
inline constexpr std::uint32_t kPlainRounds = 8;

}  // namespace imgpipe::entropy
