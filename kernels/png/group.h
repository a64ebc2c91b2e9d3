// The records that the kernels of kernels/png/encoding.h keep in device memory.
//
// A strip's filtered rows are packed, and cut into tiles of kTileBytes (the last may be shorter), one per
// block.
#pragma once

#include <cstddef>
#include <cstdint>

#include "images/codecs/png/huffman_code.h"
#include "images/codecs/png/strip_block.h"
#include "images/codecs/png/strip_repeats.h"
#include "images/codecs/png/strip_rule.h"
#include "images/host_device.h"
#include "images/rounded_up.h"
#include "kernels/png/window_tokens.h"

namespace imgpipe::png_strips {

inline constexpr unsigned kTileThreads = 512;
inline constexpr unsigned kTileBytes = kTileThreads * kWindowBytes;
// For longer rows, several warps choose the filter together.
inline constexpr unsigned kSegmentBytes = 32768;
inline constexpr unsigned kChooseThreads = 256;
inline constexpr unsigned kCellThreads = 128;  // of find_repeats()
inline constexpr unsigned kBlockCells = 32;    // per block of threads

// An image. Members called `first_...` are indices over the whole group.
struct PngImage {
  const std::uint8_t* pixels;
  std::int64_t stride;  // bytes
  std::uint32_t row_bytes, height;
  std::uint32_t channels;
  std::uint32_t strip_rows;
  std::uint32_t tiles_per_strip;  // of a full strip
  std::uint32_t segments_per_row;
  std::uint32_t lanes_per_segment;      // threads that choose filters: a power of two
  std::uint32_t cell_blocks_per_strip;  // of a full strip
  std::uint32_t hash_slots;             // slots of a strip's hash table: a power of two
  std::uint32_t first_strip, first_tile;
  std::uint32_t first_choose_block, first_cell_block;
  std::uint64_t first_row;
  std::uint64_t first_sum;    // of its RowSums, if rows have several segments
  std::uint64_t first_hash;   // two tables per strip
  std::uint64_t filtered;     // offset of its filtered rows from those of the group's first strip
  std::uint64_t strip_pitch;  // distance between the filtered rows of two strips

  // Strips and tiles are counted within the image.
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::uint32_t strips() const {
    return (height + strip_rows - 1) / strip_rows;
  }
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::uint32_t rows_of(std::uint32_t strip) const {
    const std::uint32_t left = height - strip * strip_rows;
    return left < strip_rows ? left : strip_rows;
  }
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::uint32_t bytes_of(std::uint32_t strip) const {
    return rows_of(strip) * (row_bytes + 1);
  }
  [[nodiscard]] IMGPIPE_HOST_DEVICE constexpr std::uint32_t tiles_of(std::uint32_t strip) const {
    return (bytes_of(strip) + kTileBytes - 1) / kTileBytes;
  }
};

// Sums of the absolute values of a row's residuals by filter.
struct RowSums {
  unsigned long long of[5];
};

// A strip's repeat counts: for the windows at the least keys, and for those at the cells' first bytes.
struct StripWindows {
  StripRepeats of[2];
};

struct TileState {
  // Number of occurrences of each literal and length (kMaxHuffmanSymbols). Bytes of runs at an end of the
  // tile are counted as literals.
  std::uint16_t counts[288];
  std::uint32_t leading, trailing;      // bytes at the tile's ends that equal the byte before them
  std::uint32_t run_warps;              // bit i: warp i may have bytes of a run
  std::uint32_t adler_low, adler_high;  // Adler-32 whose low sum starts at 0, not 1
  // The lengths of the sequences of equal bytes just before the tile and just after it.
  std::uint32_t in, out;
  std::uint64_t first_bit;  // in its strip
};

enum class StripKind : std::uint32_t { huffman, stored, filtered };

struct StripState {
  std::uint32_t table[kMaxHuffmanSymbols];  // code << 8 | its bits
  std::uint32_t copies[kMaxCopy + 1];       // copy_entry() by length
  // The parts of a deflate block's header: 17 bits up to HCLEN, the lengths of the code length code, and the
  // coded lengths.
  static constexpr unsigned kMaxHeaderBits = 17 + 3 * kLengthCodes + (kMaxHuffmanSymbols + 1) * (7 + 7);
  std::uint32_t header[kMaxHeaderBits / 32 + 2];
  std::uint32_t header_bits;
  std::uint32_t adler;
  std::uint64_t bits;  // of the block including its end-of-block code
  MatchRule matches;
  std::uint64_t position;  // offset in the group's output
  StripKind kind;
};

struct StripResult {
  std::uint64_t position, bytes;
  std::uint32_t adler;
  std::uint32_t filtered;
};

// The arrays of a group.
struct Group {
  const PngImage* pictures;
  std::uint32_t count;  // of images
  std::uint32_t strips, tiles, choose_blocks, cell_blocks;
  // Initially zero.
  RowSums* sums;          // of rows of several segments
  StripWindows* windows;  // by strip
  unsigned long long* hashes;
  // Initially undefined.
  std::uint8_t* types;  // by row
  TileState* tile_states;
  StripState* strip_states;
  StripResult* results;
  std::uint8_t* filtered;
  std::uint8_t* output;
};

inline constexpr std::uint64_t kStripAlignment = 16;  // of strips in the output

// Returns the image that contains item `item` of the group; `first`: the corresponding member of PngImage.
template <class First>
IMGPIPE_HOST_DEVICE inline const PngImage& image_containing(const Group& group, First PngImage::*first,
                                                            std::uint32_t item) {
  std::uint32_t low = 0;
  for (std::uint32_t high = group.count; high - low > 1;) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (group.pictures[middle].*first <= item) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return group.pictures[low];
}

// The group's counts, and the offsets of Group's arrays in its memory.
struct GroupLayout {
  std::uint32_t strips = 0, tiles = 0, choose_blocks = 0, cell_blocks = 0;
  std::size_t sums = 0, windows = 0, hashes = 0;
  std::size_t zeroed = 0, zeroed_bytes = 0;  // range of the three arrays above
  std::size_t types = 0, tile_states = 0, strip_states = 0, results = 0, filtered = 0, output = 0;
};

}  // namespace imgpipe::png_strips
