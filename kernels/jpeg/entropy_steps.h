// What one thread does while a group of JPEGs is decoded. The device's, and tests'.
#pragma once

#include <cstdint>

#include "images/host_device.h"
#include "kernels/jpeg/entropy_layout.h"

#if !defined(__CUDA_ARCH__)
#include <bit>
#endif

namespace imgpipe::entropy {

// ---- bits -------------------------------------------------------------------------------------------------

IMGPIPE_HOST_DEVICE inline std::uint32_t big_endian(const std::uint32_t* word) {
#if defined(__CUDA_ARCH__)
  return __byte_perm(__ldg(word), 0, 0x0123);
#else
  static_assert(std::endian::native == std::endian::little);
  return __builtin_bswap32(*word);
#endif
}

// The upper 32 bits of 64 that are shifted by 0..31.
IMGPIPE_HOST_DEVICE inline std::uint32_t shifted(std::uint32_t high, std::uint32_t low, std::uint32_t count) {
#if defined(__CUDA_ARCH__)
  return __funnelshift_l(low, high, count);
#else
  return static_cast<std::uint32_t>(((std::uint64_t{high} << 32 | low) << (count & 31)) >> 32);
#endif
}

// The next 32 bits of a stream. One word is read ahead: loads take long.
class BitWindow {
 public:
  IMGPIPE_HOST_DEVICE BitWindow(const std::uint32_t* words, std::uint32_t bit)
      : next_(words + bit / 32 + 3), bit_(bit) {
    high_ = big_endian(next_ - 3);
    low_ = big_endian(next_ - 2);
    ahead_ = big_endian(next_ - 1);
  }
  [[nodiscard]] IMGPIPE_HOST_DEVICE std::uint32_t bit() const { return bit_; }
  [[nodiscard]] IMGPIPE_HOST_DEVICE std::uint32_t peek() const { return shifted(high_, low_, bit_ & 31); }
  // 1..31
  IMGPIPE_HOST_DEVICE void skip(std::uint32_t count) {
    const std::uint32_t before = bit_;
    bit_ += count;
    if (((before ^ bit_) & 32) == 0) return;
    high_ = low_;
    low_ = ahead_;
    ahead_ = big_endian(next_++);
  }

 private:
  const std::uint32_t* next_;
  std::uint32_t high_, low_, ahead_, bit_;
};

// ---- symbols ----------------------------------------------------------------------------------------------

constexpr SymbolEntry symbol_entry(std::uint32_t bits, std::uint32_t size, std::uint32_t skip) {
  return static_cast<SymbolEntry>(bits | size << 5 | skip << 9);
}
// Any bits may be skipped: whoever comes here by the true way has no image.
inline constexpr SymbolEntry kNoCodeEntry = symbol_entry(8, 0, kNoCode);

IMGPIPE_HOST_DEVICE constexpr std::uint32_t bits_of(std::uint32_t entry) {
  return entry & 31;
}
IMGPIPE_HOST_DEVICE constexpr std::uint32_t size_of(std::uint32_t entry) {
  return entry >> 5 & 15;
}
IMGPIPE_HOST_DEVICE constexpr std::uint32_t skip_of(std::uint32_t entry) {
  return entry >> 9;
}

// What the code that `first` (16 bits) begins with means.
IMGPIPE_HOST_DEVICE inline SymbolEntry find_symbol(const CodeLengths& codes, std::uint32_t first,
                                                   std::uint32_t& length) {
  length = 1;
  while (length <= 16 && first >= codes.ends[length]) ++length;
  if (length > 16) return kNoCodeEntry;
  const auto code = static_cast<std::int32_t>(first >> (16 - length));
  const std::uint32_t symbol = codes.symbols[(code + codes.first_symbols[length]) & 0xFF];
  const std::uint32_t size = symbol & 15;
  std::uint32_t skip = 1;
  if (codes.is_dc == 0) skip = size > 0 ? (symbol >> 4) + 1 : (symbol >> 4) == 15 ? 16 : kSkipsBlock;
  return static_cast<SymbolEntry>((length + size) | size << 5 | skip << 9);
}

// Entry i of a table: of `entries`, then of `long_entries`, then `long_first`.
IMGPIPE_HOST_DEVICE inline std::uint16_t table_entry(const CodeLengths& codes, std::uint32_t i) {
  std::uint32_t length = 0;
  if (i < kLookupEntries) {
    const SymbolEntry entry = find_symbol(codes, i << (16 - kLookupLength), length);
    return length <= kLookupLength ? entry : SymbolEntry{0};
  }
  const std::uint32_t long_first = codes.ends[kLookupLength];
  if (i == kLookupEntries + kLongEntries) return static_cast<std::uint16_t>(long_first);
  const std::uint32_t first = long_first + (i - kLookupEntries);
  return first < 0x10000U ? find_symbol(codes, first, length) : kNoCodeEntry;
}

// The tables of an image: those that threads look into, and behind them all codes.
struct Tables {
  const SymbolTable* symbols;
  const CodeLengths* codes;
};

IMGPIPE_HOST_DEVICE inline std::uint32_t long_symbol(const Tables& tables, std::uint32_t table,
                                                     std::uint32_t first) {
  const std::uint32_t i = first - tables.symbols[table].long_first;
  if (i < kLongEntries) return tables.symbols[table].long_entries[i];
  std::uint32_t length = 0;
  return find_symbol(tables.codes[table], first, length);
}

IMGPIPE_HOST_DEVICE inline std::uint32_t next_symbol(const Tables& tables, std::uint32_t table,
                                                     std::uint32_t bits) {
  const std::uint32_t entry = tables.symbols[table].entries[bits >> (32 - kLookupLength)];
  return bits_of(entry) != 0 ? entry : long_symbol(tables, table, bits >> 16);
}

// The value behind a code (T.81, F.2.2.1: EXTEND); 0 where there is none.
IMGPIPE_HOST_DEVICE inline std::int32_t value_of(std::uint32_t entry, std::uint32_t bits) {
  const std::uint32_t size = size_of(entry);
  const std::uint32_t value = bits << (bits_of(entry) - size);
  const auto plain = static_cast<std::int32_t>((value >> 1) >> (31 - size));
  return (value >> 31) != 0 ? plain : plain + 1 - static_cast<std::int32_t>(1U << size);
}

// ---- subsequences -----------------------------------------------------------------------------------------

// Which component and tables a block of an MCU has.
struct BlockKind {
  std::uint32_t component, dc_table, ac_table;
};
IMGPIPE_HOST_DEVICE inline BlockKind kind_of(const DeviceImage& image, std::uint32_t block) {
  const std::uint32_t bits = (block < 4 ? image.blocks_low : image.blocks_high) >> (block % 4 * 8) & 0xFF;
  return {bits & 3, bits >> 2 & 7, bits >> 5};
}

struct Subsequence {
  const std::uint32_t* words;
  std::uint32_t bits_left;  // of the segment, from here on; no more than kMostBitsLeft
  std::uint32_t segment;    // of the image
  bool starts_segment;
  [[nodiscard]] IMGPIPE_HOST_DEVICE std::uint32_t end() const {
    return bits_left < kSubsequenceBits ? bits_left : kSubsequenceBits;
  }
  [[nodiscard]] IMGPIPE_HOST_DEVICE bool ends_segment() const { return bits_left <= kSubsequenceBits; }
};
inline constexpr std::uint32_t kMostBitsLeft = 1U << 20;

IMGPIPE_HOST_DEVICE inline Subsequence find_subsequence(const GroupView& view, const DeviceImage& image,
                                                        std::uint32_t index) {
  const DeviceSegment* segments = view.segments + image.first_segment;
  std::uint32_t low = 0;
  for (std::uint32_t high = image.segments; high - low > 1;) {
    const std::uint32_t middle = low + (high - low) / 2;
    (segments[middle].first_subsequence <= index ? low : high) = middle;
  }
  const DeviceSegment segment = segments[low];
  const std::uint32_t at = (index - segment.first_subsequence) * kSubsequenceBytes;
  const std::uint32_t left = segment.bytes - at;
  return {image.stream + (segment.first_byte + at) / 4, left < kMostBitsLeft / 8 ? left * 8 : kMostBitsLeft,
          low, at == 0};
}

IMGPIPE_HOST_DEVICE inline PackedState packed_state(std::uint32_t bit, std::uint32_t place,
                                                    std::uint32_t block) {
  return bit | place << 5 | block << 11;
}

// From a state through one subsequence. Damage is passed over, the same way from the same state: it may be
// none of the true decoder's.
IMGPIPE_HOST_DEVICE inline void decode_subsequence(const DeviceImage& image, const Tables& tables,
                                                   const Subsequence& subsequence, PackedState entry,
                                                   Record& record, Sums& sums) {
  const std::uint32_t end = subsequence.end();
  BitWindow window(subsequence.words, entry & 31);
  std::uint32_t place = entry >> 5 & 63;
  std::uint32_t block = entry >> 11;
  BlockKind kind = kind_of(image, block);
  std::uint32_t first_bit = kNoBlock, first_block = 0;
  sums = {};
  while (window.bit() < end) {
    const std::uint32_t bits = window.peek();
    const std::uint32_t symbol = next_symbol(tables, place == 0 ? kind.dc_table : kind.ac_table, bits);
    if (place == 0) {
      if (sums.blocks++ == 0) {
        first_bit = window.bit();
        first_block = block;
      }
      const auto difference = static_cast<std::uint32_t>(value_of(symbol, bits));
      sums.dc[0] += kind.component == 0 ? difference : 0;
      sums.dc[1] += kind.component == 1 ? difference : 0;
      sums.dc[2] += kind.component == 2 ? difference : 0;
    }
    window.skip(bits_of(symbol));
    place += skip_of(symbol);
    if (place >= 64) {
      place = 0;
      block = block + 1 == image.blocks_in_mcu ? 0 : block + 1;
      kind = kind_of(image, block);
    }
  }
  record.entry = static_cast<std::uint16_t>(entry);
  record.exit = static_cast<std::uint16_t>(packed_state((window.bit() - end) & 31, place, block));
  record.first_bit = static_cast<std::uint16_t>(first_bit);
  record.first_block = static_cast<std::uint16_t>(first_block);
}

IMGPIPE_HOST_DEVICE inline void add(Sums& to, const Sums& more) {
  to.blocks += more.blocks;
  for (int c = 0; c < 3; ++c) to.dc[c] += more.dc[c];
}
IMGPIPE_HOST_DEVICE inline void subtract(Sums& from, const Sums& less) {
  from.blocks -= less.blocks;
  for (int c = 0; c < 3; ++c) from.dc[c] -= less.dc[c];
}

// Subsequences from the first one of a tile on are decoded again, from the state before them on, until they
// are in step; up to `end`, at most `most` of them. Keeps the tiles' sums right. Returns how many it took.
IMGPIPE_HOST_DEVICE inline std::uint32_t decode_again(const GroupView& view, const DeviceImage& image,
                                                      const Tables& tables, std::uint32_t tile,
                                                      PackedState state, std::uint32_t end,
                                                      std::uint32_t most) {
  Record* records = view.records + image.first_subsequence;
  Sums* sums = view.sums + image.first_subsequence;
  std::uint32_t taken = 0;
  for (std::uint32_t i = tile * kTileSubsequences; i < end && taken < most; ++i, ++taken) {
    if (records[i].entry == state) break;
    const Subsequence subsequence = find_subsequence(view, image, i);
    if (subsequence.starts_segment) break;
    Record record;
    Sums now;
    decode_subsequence(image, tables, subsequence, state, record, now);
    const std::uint32_t of_tile = image.first_tile + i / kTileSubsequences;
    if (view.tile_exits[of_tile].has_start == 0) {
      subtract(view.tile_sums[of_tile], sums[i]);
      add(view.tile_sums[of_tile], now);
    }
    records[i] = record;
    sums[i] = now;
    state = record.exit;
  }
  return taken;
}

// Whether a tile goes on where the one before ends.
IMGPIPE_HOST_DEVICE inline bool is_joined(const GroupView& view, const DeviceImage& image,
                                          std::uint32_t tile) {
  const std::uint32_t first = tile * kTileSubsequences;
  const Record* records = view.records + image.first_subsequence;
  return records[first].entry == records[first - 1].exit ||
         find_subsequence(view, image, first).starts_segment;
}

// ---- coefficients -----------------------------------------------------------------------------------------

// The blocks that begin in one subsequence and belong to the image.
struct OwnBlocks {
  std::uint32_t first = 0;  // of the image
  std::uint32_t count = 0;
  bool ends_segment = false;  // none of the segment's are behind them
};

// `before`: what the segment has before this subsequence.
IMGPIPE_HOST_DEVICE inline OwnBlocks own_blocks(const DeviceImage& image, const Subsequence& subsequence,
                                                std::uint32_t before, std::uint32_t count) {
  const std::uint32_t first = subsequence.segment * image.segment_blocks;
  const std::uint32_t all =
      image.blocks - first < image.segment_blocks ? image.blocks - first : image.segment_blocks;
  if (before >= all) return {};
  const std::uint32_t left = all - before;
  return {first + before, left < count ? left : count, left <= count};
}

// Sums of DC differences stay so far below the host's bound (is_plain()) that its own parts of them do too.
// One step is less than the bound, so that no sum can wrap and not be seen.
inline constexpr std::int32_t kMostDc = std::int32_t{1} << 27;

// One block; its coefficients go to `out`, which holds zeros. False: damaged. `limit`: the segment's end.
template <class Store>
IMGPIPE_HOST_DEVICE inline bool decode_block(const BlockKind& kind, const Tables& tables, BitWindow& window,
                                             std::uint32_t limit, std::uint32_t& dc, Store&& store) {
  std::uint32_t bits = window.peek();
  std::uint32_t symbol = next_symbol(tables, kind.dc_table, bits);
  if (skip_of(symbol) == kNoCode) return false;
  dc += static_cast<std::uint32_t>(value_of(symbol, bits));
  const auto sum = static_cast<std::int32_t>(dc);
  if (sum >= kMostDc || sum <= -kMostDc) return false;
  store(0, sum);
  window.skip(bits_of(symbol));
  std::uint32_t place = 1;
  while (place < 64 && window.bit() <= limit) {
    bits = window.peek();
    symbol = next_symbol(tables, kind.ac_table, bits);
    place += skip_of(symbol);
    if (size_of(symbol) > 0 && place <= 64) store(place - 1, value_of(symbol, bits));
    window.skip(bits_of(symbol));
  }
  // By a value or 16 zeros that end at the last place, or by the code for it.
  return window.bit() <= limit && (place == 64 || skip_of(symbol) == kSkipsBlock);
}

// Whether what follows subsequence `index` begins where its blocks end.
IMGPIPE_HOST_DEVICE inline bool goes_on(const GroupView& view, const DeviceImage& image, std::uint32_t index,
                                        const Subsequence& subsequence, std::uint32_t bit,
                                        std::uint32_t block) {
  // No block reaches over more: 64 symbols of 31 bits.
  constexpr std::uint32_t kMostCrossed = 64 * 31 / kSubsequenceBits + 1;
  const Record* records = view.records + image.first_subsequence;
  for (std::uint32_t ahead = 1; ahead <= kMostCrossed + 1; ++ahead) {
    if (ahead * kSubsequenceBits >= subsequence.bits_left) return false;
    const Record next = records[index + ahead];
    if (next.first_bit != kNoBlock)
      return bit == ahead * kSubsequenceBits + next.first_bit && block == next.first_block;
  }
  return false;
}

// Behind the last of the blocks of subsequence `index`.
IMGPIPE_HOST_DEVICE inline bool ends_well(const GroupView& view, const DeviceImage& image,
                                          std::uint32_t index, const Subsequence& subsequence,
                                          const OwnBlocks& own, std::uint32_t bit, std::uint32_t block) {
  if (own.count == 0) return true;  // the one before has looked
  if (own.ends_segment) return bit <= subsequence.bits_left && subsequence.bits_left - bit < 8;
  return goes_on(view, image, index, subsequence, bit, block);
}

}  // namespace imgpipe::entropy
