// The code of one thread in the decoding of a group of JPEGs, for the device and for tests.
#pragma once

#include <cstdint>

#include "images/host_device.h"
#include "kernels/jpeg/entropy_layout.h"

#if !defined(__CUDA_ARCH__)
#include <bit>
#endif

namespace imgpipe::entropy {

// ---- bits -------------------------------------------------------------------------------------------------

// Returns the upper 32 bits of 64 after a left shift by the lower 5 bits of `count`.
IMGPIPE_HOST_DEVICE inline std::uint32_t shifted(std::uint32_t high, std::uint32_t low, std::uint32_t count) {
#if defined(__CUDA_ARCH__)
  return __funnelshift_l(low, high, count);
#else
  return static_cast<std::uint32_t>(((std::uint64_t{high} << 32 | low) << (count & 31)) >> 32);
#endif
}

IMGPIPE_HOST_DEVICE inline std::uint32_t swapped(std::uint32_t word) {
#if defined(__CUDA_ARCH__)
  return __byte_perm(word, 0, 0x0123);
#else
  static_assert(std::endian::native == std::endian::little);
  return __builtin_bswap32(word);
#endif
}

// The next 32 bits of a stream. words(i) returns its word i, first bit most significant.
template <class Words>
class BitWindow {
 public:
  IMGPIPE_HOST_DEVICE BitWindow(const Words& words, std::uint32_t bit)
      : words_(words), next_(bit / 32 + 2), bit_(bit) {
    high_ = words_(next_ - 2);
    low_ = words_(next_ - 1);
  }
  [[nodiscard]] IMGPIPE_HOST_DEVICE std::uint32_t bit() const { return bit_; }
  [[nodiscard]] IMGPIPE_HOST_DEVICE std::uint32_t peek() const { return shifted(high_, low_, bit_); }
  // `count`: 1..31.
  IMGPIPE_HOST_DEVICE void skip(std::uint32_t count) {
    const std::uint32_t before = bit_;
    bit_ += count;
    if (((before ^ bit_) & 32) == 0) return;
    high_ = low_;
    low_ = words_(next_++);
  }

 private:
  Words words_;
  std::uint32_t next_, high_, low_, bit_;
};

// ---- symbols ----------------------------------------------------------------------------------------------

constexpr SymbolEntry symbol_entry(std::uint32_t bits, std::uint32_t size, std::uint32_t skip) {
  return static_cast<SymbolEntry>(bits | size << 5 | skip << 9);
}
// A decoder that is in step rejects the image at an invalid code, so any length would do there. This entry
// skips the 16 bits that were examined: run_length() requires every symbol to skip all examined bits.
inline constexpr SymbolEntry kNoCodeEntry = symbol_entry(16, 0, kNoCode);

IMGPIPE_HOST_DEVICE constexpr std::uint32_t bits_of(std::uint32_t entry) {
  return entry & 31;
}
IMGPIPE_HOST_DEVICE constexpr std::uint32_t size_of(std::uint32_t entry) {
  return entry >> 5 & 15;
}
IMGPIPE_HOST_DEVICE constexpr std::uint32_t skip_of(std::uint32_t entry) {
  return entry >> 9;
}

// Returns the entry of the code at the start of `first` (16 bits).
IMGPIPE_HOST_DEVICE inline SymbolEntry find_symbol(const CodeLengths& codes, std::uint32_t first,
                                                   std::uint32_t& length) {
  length = 1;
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
  while (length <= 16 && first >= codes.ends[length]) ++length;
  if (length > 16) return kNoCodeEntry;
  const auto code = static_cast<std::int32_t>(first >> (16 - length));
  const std::uint32_t symbol = codes.symbols[(code + codes.first_symbols[length]) & 0xFF];
  const std::uint32_t size = symbol & 15;
  std::uint32_t skip = 1;
  if (codes.is_dc == 0) skip = size > 0 ? (symbol >> 4) + 1 : (symbol >> 4) == 15 ? 16 : kSkipsBlock;
  return static_cast<SymbolEntry>((length + size) | size << 5 | skip << 9);
}

// Returns element i of a SymbolTable: `entries`, then `long_entries`, then `long_first`.
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

// An image's tables: the lookup tables, and the code lengths that decode all other codes.
struct Tables {
  const SymbolEntry* entries;  // kTableEntries per table
  const CodeLengths* codes;
  const std::uint32_t* kinds;  // by block of an MCU
  std::uint32_t blocks_in_mcu;
};

// `table`: the table's offset in the entries; `first`: the next 16 bits of the stream.
IMGPIPE_HOST_DEVICE inline std::uint32_t long_symbol(const Tables& tables, std::uint32_t table,
                                                     std::uint32_t first) {
  const SymbolEntry* const entries = tables.entries + table;
  const std::uint32_t i = first - entries[kTableEntries - 1];
  if (i < kLongEntries) return entries[kLookupEntries + i];
  std::uint32_t length = 0;
  return find_symbol(tables.codes[table / kTableEntries], first, length);
}

IMGPIPE_HOST_DEVICE inline std::uint32_t next_symbol(const Tables& tables, std::uint32_t table,
                                                     std::uint32_t bits) {
  const std::uint32_t entry = tables.entries[table + (bits >> (32 - kLookupLength))];
  return bits_of(entry) != 0 ? entry : long_symbol(tables, table, bits >> 16);
}

// Returns the value after a code (T.81, F.2.2.1: EXTEND); 0 if the code has none. A value whose first bit is
// 0 is negative: it is extended with ones to 32 bits, plus 1.
IMGPIPE_HOST_DEVICE inline std::int32_t value_of(std::uint32_t entry, std::uint32_t bits) {
  const std::uint32_t size = size_of(entry);
  const std::uint32_t value = bits << (bits_of(entry) - size);
  const std::uint32_t front = ~static_cast<std::uint32_t>(static_cast<std::int32_t>(value) >> 31);
  return static_cast<std::int32_t>(shifted(front, value, size) - front);
}

// ---- subsequences -----------------------------------------------------------------------------------------

IMGPIPE_HOST_DEVICE constexpr std::uint32_t component_of(std::uint32_t kind) {
  return kind >> 28;
}
IMGPIPE_HOST_DEVICE constexpr std::uint32_t dc_table_of(std::uint32_t kind) {
  return kind & 0x3FFF;
}
IMGPIPE_HOST_DEVICE constexpr std::uint32_t ac_table_of(std::uint32_t kind) {
  return kind >> 14 & 0x3FFF;
}

struct Subsequence {
  const std::uint32_t* words;
  std::uint32_t bits_left;  // of the segment from here on, clamped to kMaxBitsLeft
  std::uint32_t segment;    // index in the image
  bool starts_segment;
  [[nodiscard]] IMGPIPE_HOST_DEVICE std::uint32_t end() const {
    return bits_left < kSubsequenceBits ? bits_left : kSubsequenceBits;
  }
  [[nodiscard]] IMGPIPE_HOST_DEVICE bool ends_segment() const { return bits_left <= kSubsequenceBits; }
};
inline constexpr std::uint32_t kMaxBitsLeft = 1U << 20;

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
  return {image.stream + (segment.first_byte + at) / 4, left < kMaxBitsLeft / 8 ? left * 8 : kMaxBitsLeft,
          low, at == 0};
}

IMGPIPE_HOST_DEVICE inline PackedState packed_state(std::uint32_t bit, std::uint32_t position,
                                                    std::uint32_t block) {
  return bit | position << 5 | block << 11;
}

template <class Words>
IMGPIPE_HOST_DEVICE inline std::uint32_t bits_at(const Words& words, std::uint32_t bit) {
  return shifted(words(bit / 32), words(bit / 32 + 1), bit);
}

// Images with large areas of one colour repeat the same MCU. Decoders do not synchronise there, so such areas
// are decoded sequentially and need this fast path. It applies to MCUs of at most this many bits.
inline constexpr std::uint32_t kMaxRunBits = 64;

// Returns how often the MCU in bits `first` to `next` repeats from `next` on, before `end`.
template <class Words>
IMGPIPE_HOST_DEVICE inline std::uint32_t run_length(const Words& words, std::uint32_t first,
                                                    std::uint32_t next, std::uint32_t end) {
  const std::uint32_t period = next - first;
  std::uint32_t bit = first;
  while (bit < end && bits_at(words, bit) == bits_at(words, bit + period)) bit += 32;
  const std::uint32_t same = bit - first;  // bits equal to those one period later
  const std::uint32_t most = (end - next) / period;
  return same / period < most ? same / period : most;
}

// The work of decode_subsequence() in addition to finding the exit state.
enum class Pass {
  guess,  // nothing
  sums,   // fills record and sums
  runs,   // the same, faster where an MCU repeats
};

// Decodes one subsequence from state `entry` up to bit `end`. Ignores damage, deterministically, because the
// true decoder may never meet it. Returns the number of symbols decoded (Pass::runs).
template <Pass kPass, class Words>
IMGPIPE_HOST_DEVICE inline std::uint32_t decode_subsequence(const Tables& tables, const Words& words,
                                                            std::uint32_t end, PackedState entry,
                                                            Record& record, Sums& sums) {
  BitWindow<Words> window(words, entry & 31);
  std::uint32_t position = entry >> 5 & 63;
  std::uint32_t block = entry >> 11;
  std::uint32_t kind = tables.kinds[block];
  std::uint32_t first_bit = kNoBlock, first_block = 0, symbols = 0;
  std::uint32_t blocks = 0, all = 0, second = 0, third = 0;  // DC sums: total, two components
  // The current MCU: its position, its first bits, the sums before it.
  std::uint32_t mcu = kNoBlock, mcu_bits = 0, mcu_all = 0, mcu_second = 0, mcu_third = 0;
  while (window.bit() < end) {
    const std::uint32_t bits = window.peek();
    const std::uint32_t symbol =
        next_symbol(tables, position == 0 ? dc_table_of(kind) : ac_table_of(kind), bits);
    if (kPass != Pass::guess && position == 0) {
      if (blocks++ == 0) {
        first_bit = window.bit();
        first_block = block;
      }
      const auto difference = static_cast<std::uint32_t>(value_of(symbol, bits));
      all += difference;
      second += (component_of(kind) & 1) * difference;
      third += (component_of(kind) >> 1) * difference;
    }
    window.skip(bits_of(symbol));
    position += skip_of(symbol);
    if (kPass == Pass::runs) ++symbols;
    if (position < 64) continue;
    position = 0;
    block = block + 1 == tables.blocks_in_mcu ? 0 : block + 1;
    kind = tables.kinds[block];
    if (kPass == Pass::runs && block == 0) {
      const std::uint32_t next = window.bit();
      if (window.peek() == mcu_bits && mcu != kNoBlock && next - mcu <= kMaxRunBits && next < end) {
        const std::uint32_t again = run_length(words, mcu, next, end);
        blocks += again * tables.blocks_in_mcu;
        all += again * (all - mcu_all);
        second += again * (second - mcu_second);
        third += again * (third - mcu_third);
        window = BitWindow<Words>(words, next + again * (next - mcu));
      }
      mcu = window.bit();
      mcu_bits = window.peek();
      mcu_all = all;
      mcu_second = second;
      mcu_third = third;
    }
  }
  record.exit = static_cast<std::uint16_t>(packed_state((window.bit() - end) & 31, position, block));
  if (kPass == Pass::guess) return 0;
  record.entry = static_cast<std::uint16_t>(entry);
  record.first_bit = static_cast<std::uint16_t>(first_bit);
  record.first_block = static_cast<std::uint16_t>(first_block);
  sums = {blocks, {all - second - third, second, third}};
  return symbols;
}

IMGPIPE_HOST_DEVICE inline void add(Sums& to, const Sums& more) {
  to.blocks += more.blocks;
  for (int c = 0; c < 3; ++c) to.dc[c] += more.dc[c];
}
IMGPIPE_HOST_DEVICE inline void subtract(Sums& from, const Sums& less) {
  from.blocks -= less.blocks;
  for (int c = 0; c < 3; ++c) from.dc[c] -= less.dc[c];
}

// Whether subsequence `index` must be decoded again, given the state `state` before it.
IMGPIPE_HOST_DEVICE inline bool is_out_of_step(const GroupView& view, const DeviceImage& image,
                                               std::uint32_t index, const Subsequence& subsequence,
                                               PackedState state) {
  return view.records[image.first_subsequence + index].entry != state && !subsequence.starts_segment;
}

// Stores the result of decoding a subsequence again, and updates the sum of its tile.
IMGPIPE_HOST_DEVICE inline void replace(const GroupView& view, const DeviceImage& image, std::uint32_t index,
                                        const Record& record, const Sums& now) {
  const std::uint32_t tile = image.first_tile + index / kTileSubsequences;
  Sums& sums = view.sums[image.first_subsequence + index];
  // If a segment starts in the tile, tile_sums holds the sum of the tile's last segment, but this subsequence
  // belongs to its first.
  if (view.tile_exits[tile].has_start == 0) {
    subtract(view.tile_sums[tile], sums);
    add(view.tile_sums[tile], now);
  }
  sums = now;
  view.records[image.first_subsequence + index] = record;
}

IMGPIPE_HOST_DEVICE inline bool is_joined(const GroupView& view, const DeviceImage& image,
                                          std::uint32_t tile) {
  const std::uint32_t first = tile * kTileSubsequences;
  const Record* records = view.records + image.first_subsequence;
  return records[first].entry == records[first - 1].exit ||
         find_subsequence(view, image, first).starts_segment;
}

// ---- coefficients -----------------------------------------------------------------------------------------

// The blocks of the image that begin in one subsequence.
struct SubsequenceBlocks {
  std::uint32_t first = 0;  // index in the image
  std::uint32_t count = 0;
  bool ends_segment = false;  // they are the segment's last
};

// `before`: the number of the segment's blocks before this subsequence.
IMGPIPE_HOST_DEVICE inline SubsequenceBlocks blocks_of_subsequence(const DeviceImage& image,
                                                                   const Subsequence& subsequence,
                                                                   std::uint32_t before,
                                                                   std::uint32_t count) {
  const std::uint32_t first = subsequence.segment * image.segment_blocks;
  const std::uint32_t all =
      image.blocks - first < image.segment_blocks ? image.blocks - first : image.segment_blocks;
  if (before >= all) return {};
  const std::uint32_t left = all - before;
  return {first + before, left < count ? left : count, left <= count};
}

// The bound on DC sums. It is so far below the host's (dc_sums_in_range()) that the host's partial sums also
// stay in range. A single difference is below the bound, so no sum can wrap unnoticed.
inline constexpr std::int32_t kMaxDc = std::int32_t{1} << 27;

// Words that a block may extend beyond the subsequence it begins in: 64 symbols of 31 bits, and a window.
inline constexpr std::uint32_t kLookaheadWords = 64 * 31 / 32 + 3;

// Decodes one block; returns false if it is damaged. Passes at least all non-zero coefficients to
// store(position, value). `position` may be up to kMaxPlace; `store` must ignore positions above 63.
inline constexpr std::uint32_t kMaxPlace = 63 + kNoCode - 1;
template <class Words, class Store>
IMGPIPE_HOST_DEVICE inline bool decode_block(std::uint32_t kind, const Tables& tables,
                                             BitWindow<Words>& window, std::uint32_t& dc, Store&& store) {
  std::uint32_t bits = window.peek();
  std::uint32_t symbol = next_symbol(tables, dc_table_of(kind), bits);
  const bool is_code = skip_of(symbol) != kNoCode;
  dc += static_cast<std::uint32_t>(value_of(symbol, bits));
  store(0, static_cast<std::int32_t>(dc));
  window.skip(bits_of(symbol));
  std::uint32_t position = 1;
  do {
    bits = window.peek();
    symbol = next_symbol(tables, ac_table_of(kind), bits);
    position += skip_of(symbol);
    store(position - 1, value_of(symbol, bits));
    window.skip(bits_of(symbol));
  } while (position < 64);
  const auto sum = static_cast<std::int32_t>(dc);
  // The block must end with a coefficient or 16 zeros at the last position, or with an end-of-block code.
  return is_code && sum < kMaxDc && sum > -kMaxDc && (position == 64 || skip_of(symbol) == kSkipsBlock);
}

// Returns true if the next block after subsequence `index` begins at `bit` and has the index `block` in its
// MCU.
IMGPIPE_HOST_DEVICE inline bool continues_in_step(const GroupView& view, const DeviceImage& image,
                                                  std::uint32_t index, const Subsequence& subsequence,
                                                  std::uint32_t bit, std::uint32_t block) {
  // A block crosses at most this many subsequence boundaries: 64 symbols of 31 bits.
  constexpr std::uint32_t kMaxCrossed = 64 * 31 / kSubsequenceBits + 1;
  const Record* records = view.records + image.first_subsequence;
  for (std::uint32_t ahead = 1; ahead <= kMaxCrossed + 1; ++ahead) {
    if (ahead * kSubsequenceBits >= subsequence.bits_left) return false;
    const Record next = records[index + ahead];
    if (next.first_bit != kNoBlock)
      return bit == ahead * kSubsequenceBits + next.first_bit && block == next.first_block;
  }
  return false;
}

// Returns true if the blocks of subsequence `index` end less than 8 bits before its segment's end, or where
// the next block begins.
IMGPIPE_HOST_DEVICE inline bool ends_consistently(const GroupView& view, const DeviceImage& image,
                                                  std::uint32_t index, const Subsequence& subsequence,
                                                  const SubsequenceBlocks& own, std::uint32_t bit,
                                                  std::uint32_t block) {
  if (own.count == 0) return true;  // checked by an earlier subsequence
  if (own.ends_segment) return bit <= subsequence.bits_left && subsequence.bits_left - bit < 8;
  return continues_in_step(view, image, index, subsequence, bit, block);
}

}  // namespace imgpipe::entropy
