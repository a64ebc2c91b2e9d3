// Compiled for each instruction set: from AVX2 on, a shift by a variable amount is one instruction (BMI2).
#include "images/codecs/jpeg/entropy_decoder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "images/codecs/jpeg/entropy_decoder.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef IMGPIPE_ENTROPY_BATCH
#define IMGPIPE_ENTROPY_BATCH
namespace imgpipe {
namespace {

// The output arrays of decode_batch().
struct EntropyBatch {
  CoefficientBlock* blocks;
  Coefficient* coefficients;  // 64 for each block
  std::int64_t count;         // in: blocks requested; out: blocks decoded
  std::uint32_t made;         // coefficients in the list before this batch; out: including it
  std::uint32_t* starts;      // bit offsets of the blocks; nullptr: not requested
};

}  // namespace
}  // namespace imgpipe
#endif

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

// The next bits of the scan; the first one is the highest bit. At least 56 bits are valid after fill().
class BitWindow {
 public:
  HWY_INLINE BitWindow(const std::uint8_t* bytes, std::int64_t bit) : base_(bytes) { go_to(bit); }
  HWY_INLINE void back(int count) { go_to(position() - count); }

  // Bits of bits_ after the first count_ may already be set; they have the values that fill() gives them.
  HWY_INLINE void fill() {
    std::uint64_t more;
    std::memcpy(&more, next_, sizeof more);
    if constexpr (std::endian::native == std::endian::little) more = __builtin_bswap64(more);
    bits_ |= more >> count_;
    next_ += (63 - count_) >> 3;
    count_ |= 56;
  }
  template <int Count>
  [[nodiscard]] HWY_INLINE std::uint32_t peek() const {
    return static_cast<std::uint32_t>(bits_ >> (64 - Count));
  }
  HWY_INLINE void skip(int count) {
    bits_ <<= count;
    count_ -= count;
  }
  [[nodiscard]] HWY_INLINE std::uint64_t bits() const { return bits_; }
  [[nodiscard]] HWY_INLINE std::int64_t position() const { return (next_ - base_) * 8 - count_; }

 private:
  HWY_INLINE void go_to(std::int64_t bit) {
    next_ = base_ + bit / 8;
    bits_ = 0;
    count_ = 0;
    fill();
    skip(static_cast<int>(bit % 8));
  }

  const std::uint8_t* base_;
  const std::uint8_t* next_ = nullptr;
  std::uint64_t bits_ = 0;
  int count_ = 0;
};

// The value of an entry whose value does not fit in the lookup table, and the bits of code and value.
struct LongValue {
  int value, bits;
};
HWY_INLINE LongValue value_after(HuffmanEntry entry, std::uint64_t bits) {
  const int size = static_cast<int>(entry >> 24 & 0xFF);
  const int total = static_cast<int>(entry >> 16 & 0xFF);
  return {extended_value(static_cast<std::uint32_t>(bits << (total - size) >> (64 - size)), size), total};
}

// A symbol whose code does not fit in the lookup table.
struct LongSymbol {
  int symbol = -1;  // -1: no code begins like this
  int value = 0;    // from the bits after the code
  int bits = 0;     // code and value together
};

// The lower half of a symbol is the size of its value; a DC symbol is at most 15, so its upper half is 0.
// Takes the bits by value, because taking the window's address would keep the window out of registers.
HWY_NOINLINE LongSymbol long_symbol(const HuffmanDecoder& decoder, std::uint64_t bits) {
  const auto first = static_cast<std::uint32_t>(bits >> (64 - kLongestCode));
  std::size_t length = 1;
  while (length <= kLongestCode && first >= decoder.ends[length]) ++length;
  if (length > kLongestCode) return {};
  const auto code = static_cast<std::int32_t>(first >> (kLongestCode - length));
  LongSymbol found{.symbol = decoder.symbols[static_cast<std::size_t>(code + decoder.first_symbols[length])]};
  const int size = found.symbol & 15;
  if (size > 0) found.value = extended_value(static_cast<std::uint32_t>(bits << length >> (64 - size)), size);
  found.bits = static_cast<int>(length) + size;
  return found;
}

// Decodes a DC coefficient's difference from the previous one. Returns false for damaged data. Takes at most
// kLookupBits from the window, or refills it.
HWY_INLINE bool decode_dc(const HuffmanDecoder& decoder, BitWindow& window, std::int32_t& difference) {
  const HuffmanEntry entry = decoder.entries[window.peek<kLookupBits>()];
  if (HWY_LIKELY(bits_of(entry) != 0)) {
    window.skip(bits_of(entry));
    difference = first_value_of(entry);
    return true;
  }
  if (entry != 0) {
    const LongValue found = value_after(entry, window.bits());
    window.skip(found.bits);
    window.fill();
    difference = found.value;
    return true;
  }
  const LongSymbol found = long_symbol(decoder, window.bits());
  window.skip(found.bits);
  window.fill();
  difference = found.value;
  return found.symbol >= 0;
}

// Returns the entry for a code longer than kLookupBits. A damaged code ends the block at kInvalidCodeIndex.
HWY_INLINE HuffmanEntry long_ac_entry(const HuffmanDecoder& decoder, BitWindow& window) {
  const LongSymbol found = long_symbol(decoder, window.bits());
  if (found.symbol < 0) return HuffmanEntry{kInvalidCodeIndex} << 32;
  window.skip(found.bits);
  window.fill();
  return entry_of(symbol_of(static_cast<unsigned>(found.symbol), HuffmanKind::ac), found.value, 0);
}

// Decodes one or two coefficients or a run of zeros. Returns false at the end of the block. Needs 31 valid
// bits in the window; takes at most kLookupBits, or refills it.
HWY_INLINE bool decode_entry(const HuffmanDecoder& decoder, BitWindow& window, std::uint32_t& offset,
                             Coefficient*& out, HuffmanEntry& entry) {
  entry = decoder.entries[window.peek<kLookupBits>()];
  if (HWY_LIKELY(bits_of(entry) != 0)) {
    window.skip(bits_of(entry));
  } else if (HWY_LIKELY(entry != 0)) {
    const LongValue found = value_after(entry, window.bits());
    window.skip(found.bits);
    window.fill();
    entry = (entry & 0xFFFF'FFFF'0000'FFFF) | HuffmanEntry{static_cast<std::uint32_t>(found.value) << 16};
  } else {
    entry = long_ac_entry(decoder, window);
  }
  const auto upper = static_cast<std::uint32_t>(entry >> 32);
  out[0] = static_cast<std::uint32_t>(entry) + offset;
  out[1] = upper + offset;
  out += upper >> 8 & 0xFF;
  offset += upper & 0xFF;
  return offset < kBlockSamples - 1;
}

// Decodes a block's AC coefficients; `out` has space for 64. Returns nullptr for damaged data. Needs 46 valid
// bits at each iteration. Refills unconditionally: whether the window runs short is hard to predict.
HWY_INLINE Coefficient* decode_ac(const HuffmanDecoder& decoder, BitWindow& window, Coefficient* out) {
  std::uint32_t offset = 0;
  HuffmanEntry entry;
  for (;;) {
    if (!decode_entry(decoder, window, offset, out, entry)) break;
    if (!decode_entry(decoder, window, offset, out, entry)) break;
    window.fill();
    if (!decode_entry(decoder, window, offset, out, entry)) break;
  }
  constexpr std::uint32_t kLast = kBlockSamples - 1;
  if (HWY_LIKELY(offset >= kPastLastIndex && offset < kPastLastIndex + kLast) || offset == kLast) return out;
  // No end-of-block code follows the 64th coefficient: bits that looked like one belong to the next block,
  if (offset == kPastLastIndex + kLast) {
    window.back(decoder.end_bits);
    return out;
  }
  // and so do bits that looked like another coefficient.
  if (values_in(entry) == 2 && (out[-2] & 0xFF) == kLast) {
    window.back(bits_of(entry));
    window.skip(long_symbol(decoder, window.bits()).bits);
    return out - 1;
  }
  return nullptr;
}

// Local variables keep the window in registers.
EntropyEnd decode_batch(const EntropyTables& tables, const std::uint8_t* bytes, std::int64_t end_bit,
                        EntropyState& state, EntropyBatch& batch) {
  BitWindow window(bytes, state.bit);
  Coefficient* out = batch.coefficients;
  std::int64_t made = 0;
  EntropyEnd end = EntropyEnd::limit;
  std::int64_t bit = state.bit;
  for (; made < batch.count && bit < end_bit; ++made) {
    const auto block = static_cast<std::size_t>(state.block);
    if (batch.starts != nullptr) batch.starts[made] = static_cast<std::uint32_t>(bit);
    std::int32_t difference = 0;
    window.fill();
    const bool has_dc = decode_dc(*tables.dc_of_block[block], window, difference);
    Coefficient* const after = has_dc ? decode_ac(*tables.ac_of_block[block], window, out) : nullptr;
    if (after == nullptr) {
      end = EntropyEnd::damaged;
      break;
    }
    out = after;
    std::int32_t& dc = state.dc[tables.component_of_block[block]];
    // The sums of a damaged file may overflow; only the lower 16 bits are used.
    dc = static_cast<std::int32_t>(static_cast<std::uint32_t>(dc) + static_cast<std::uint32_t>(difference));
    batch.blocks[made] = {batch.made + static_cast<std::uint32_t>(out - batch.coefficients), dc};
    state.block = state.block + 1 == tables.blocks_in_mcu ? 0 : state.block + 1;
    bit = window.position();
  }
  state.bit = bit;
  batch.count = made;
  batch.made += static_cast<std::uint32_t>(out - batch.coefficients);
  return end;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {

HWY_EXPORT(decode_batch);

bool EntropyTables::make(const BaselineScan& scan) {
  blocks_in_mcu = scan.blocks_in_mcu;
  component_of_block = scan.component_of_block;
  std::array<bool, 4> dc_made{}, ac_made{};
  min_coefficient_bits = 2 * kLongestCode;
  min_mcu_bits = 0;
  for (int block = 0; block < blocks_in_mcu; ++block) {
    const ScanComponent& component = scan.component[component_of_block[static_cast<std::size_t>(block)]];
    const auto d = static_cast<std::size_t>(component.dc_codes);
    const auto a = static_cast<std::size_t>(component.ac_codes);
    if (!dc_made[d] && !make_huffman_decoder(scan.dc_codes[d], HuffmanKind::dc, dc[d])) return false;
    if (!ac_made[a] && !make_huffman_decoder(scan.ac_codes[a], HuffmanKind::ac, ac[a])) return false;
    dc_made[d] = true;
    ac_made[a] = true;
    dc_of_block[static_cast<std::size_t>(block)] = &dc[d];
    ac_of_block[static_cast<std::size_t>(block)] = &ac[a];
    min_coefficient_bits = std::min(min_coefficient_bits, ac[a].min_value_bits);
    min_mcu_bits += dc[d].min_bits + ac[a].min_bits;
  }
  return true;
}

EntropyEnd decode_blocks(const EntropyTables& tables, const std::uint8_t* bytes, const EntropyLimits& limits,
                         EntropyState& state, BlockList& out, std::span<std::uint32_t> starts) {
  std::int64_t wanted = limits.blocks;
  while (wanted > 0 && state.bit < limits.end_bit) {
    const bool traced = !starts.empty();
    std::int64_t count = std::min(wanted, kBatchBlocks);
    if (traced) count = std::min(count, static_cast<std::int64_t>(starts.size()));
    out.blocks.reserve(out.blocks.size() + static_cast<std::size_t>(count), out.max_spare_blocks);
    out.coefficients.reserve(out.coefficients.size() + static_cast<std::size_t>(count) * kBlockSamples,
                             out.max_spare_coefficients);
    EntropyBatch batch{out.blocks.data() + out.blocks.size(),
                       out.coefficients.data() + out.coefficients.size(), count,
                       static_cast<std::uint32_t>(out.coefficients.size()), traced ? starts.data() : nullptr};
    const EntropyEnd end = HWY_DYNAMIC_DISPATCH(decode_batch)(tables, bytes, limits.end_bit, state, batch);
    out.blocks.set_size(out.blocks.size() + static_cast<std::size_t>(batch.count));
    out.coefficients.set_size(batch.made);
    if (traced) starts = starts.subspan(static_cast<std::size_t>(batch.count));
    wanted -= batch.count;
    if (end == EntropyEnd::damaged || !dc_sums_in_range(state)) return EntropyEnd::damaged;
  }
  return EntropyEnd::limit;
}

bool dc_sums_in_range(const EntropyState& state) {
  constexpr std::int32_t kMost = std::int32_t{1} << 29;  // the sum of two chunks stays within 32 bits
  return std::ranges::all_of(state.dc, [](std::int32_t dc) { return dc > -kMost && dc < kMost; });
}

}  // namespace imgpipe
#endif
