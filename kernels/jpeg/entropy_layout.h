// How a group of JPEGs lies in device memory while its Huffman codes are decoded.
//
//   image   | segment 0                       | segment 1          |  of the staged scan
//           | sub | sub | sub | sub | sub |su.| sub | sub | sub |..|  subsequences: a thread decodes one
//           | tile                  | tile               | tile    |  kTileSubsequences: a block of threads
//
// A subsequence never reaches across two segments, a tile may.
#pragma once

#include <cstddef>
#include <cstdint>

namespace imgpipe::entropy {

inline constexpr std::uint32_t kSubsequenceBits = 1024;
inline constexpr std::uint32_t kSubsequenceBytes = kSubsequenceBits / 8;
inline constexpr std::uint32_t kSubsequenceWords = kSubsequenceBits / 32;
inline constexpr std::uint32_t kTileSubsequences = 128;
// Tables of one image: two for each component at the most.
inline constexpr std::uint32_t kMostTables = 6;

// What a code and its symbol mean:
//
//   bits 4..0    bits of the code and the value behind it, 1..31; 0: look in the table of long codes
//   bits 8..5    bits of the value
//   bits 15..9   how far the place in zigzag order goes on; kSkipsBlock, kNoCode
using SymbolEntry = std::uint16_t;
inline constexpr std::uint32_t kSkipsBlock = 64;  // the block's end
inline constexpr std::uint32_t kNoCode = 127;
inline constexpr std::uint32_t kLookupLength = 10;  // bits
inline constexpr std::uint32_t kLookupEntries = 1U << kLookupLength;
inline constexpr std::uint32_t kLongEntries = kLookupEntries - 1;

// Codes up to kLookupLength by what a stream begins with. Longer ones are the last in the order of codes: by
// the first 16 bits, less where they begin.
struct SymbolTable {
  SymbolEntry entries[kLookupEntries];
  SymbolEntry long_entries[kLongEntries];
  std::uint16_t long_first;
};

// As HuffmanDecoder has them: what any code can be found by.
struct CodeLengths {
  std::uint16_t ends[17];  // by length
  std::uint16_t is_dc;
  std::uint16_t first_symbols[17];  // less the first code of that length; wraps
  std::uint8_t symbols[256];
  std::uint16_t unused;
};

// A block's component and its tables.
//
//   bits 13..0   where its DC table begins, in entries of the image's tables
//   bits 27..14  the same of its AC table
//   bits 31..28  the component
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
  std::uint32_t first_segment, segments;  // of all images'; and so on
  std::uint32_t first_subsequence, subsequences;
  std::uint32_t first_tile, tiles;
  std::uint32_t first_table, tables;
  std::uint32_t segment_blocks, blocks;  // of all segments but the last one; of the image
  std::uint32_t blocks_in_mcu;
  std::uint32_t kinds[6];  // by block of an MCU: packed_kind()
  std::uint32_t number;    // of the task
};

// Where a decoder stands at the start of a subsequence: at the first symbol that begins in it.
//
//   bits 4..0    bits behind its start
//   bits 10..5   next place in zigzag order
//   bits 13..11  block of an MCU
using PackedState = std::uint32_t;

// What is known of a subsequence.
struct alignas(8) Record {
  std::uint16_t entry, exit;  // PackedState
  std::uint16_t first_bit;    // where the first block begins in it; kNoBlock
  std::uint16_t first_block;  // of an MCU
};
inline constexpr std::uint16_t kNoBlock = 0xFFFF;

// Over the blocks that begin in a subsequence, or in several. DC sums wrap.
struct alignas(16) Sums {
  std::uint32_t blocks;
  std::uint32_t dc[3];
};

// Behind a tile.
struct TileEnd {
  std::uint32_t exit : 16;
  std::uint32_t has_start : 1;  // a segment begins in it
};

// Verdicts; everything else is damage.
inline constexpr std::uint32_t kInOrder = 0x4F4B0000;

// All arrays of a group. By value to kernels.
struct GroupView {
  // uploaded
  const DeviceImage* images;
  const std::uint32_t* tile_ends;    // by image: tiles up to it and with it
  const std::uint32_t* bridge_ends;  // the same of blocks of kBridgeWarps tiles
  const CodeLengths* codes;          // by table
  const DeviceSegment* segments;
  // work
  SymbolTable* tables;
  Record* records;      // by subsequence
  Sums* sums;           // by subsequence
  TileEnd* tile_exits;  // by tile, before bridges
  Sums* tile_sums;      // by tile, of the segment that it ends in
  Sums* tile_bases;     // by tile, of the segment that it begins in: what is before it
  // results
  std::uint32_t* verdicts;  // by task
  std::uint32_t image_count, tile_count, bridge_count, table_count, task_count;
};
// Each warp joins a tile to the one before it.
inline constexpr std::uint32_t kBridgeThreads = 128;
inline constexpr std::uint32_t kBridgeWarps = kBridgeThreads / 32;
// What is decoded again one after the other where bridges do not do costs by symbols and by subsequences. So
// much is spent on an image: some tenths of a second at the worst.
inline constexpr std::uint32_t kRepairBudget = 1U << 19;
inline constexpr std::uint32_t kSubsequenceCost = 16;
// A tile takes the faster way through equal MCUs from this round on.
inline constexpr std::uint32_t kPlainRounds = 8;

}  // namespace imgpipe::entropy
