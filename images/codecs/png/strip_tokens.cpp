#include "images/codecs/png/strip_tokens.h"

#include <algorithm>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "images/codecs/png/strip_tokens.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
constexpr std::size_t kBlock = 64;
using D8 = hn::CappedTag<std::uint8_t, kBlock>;

// Returns a mask: bit i is set if byte i of the block equals the byte before it. block[-1] must exist.
HWY_INLINE std::uint64_t equal_to_last(const std::uint8_t* block) {
  const D8 d;
  std::uint64_t equal = 0;
  if constexpr (hn::MaxLanes(D8()) < 8) {
    for (std::size_t i = 0; i < kBlock; ++i) equal |= std::uint64_t{block[i] == *(block + i - 1)} << i;
  } else {
    std::uint8_t bits[kBlock / 8 + 8] = {};
    for (std::size_t i = 0; i < kBlock; i += hn::Lanes(d))
      hn::StoreMaskBits(d, hn::Eq(hn::LoadU(d, block + i), hn::LoadU(d, block + i - 1)), bits + i / 8);
    std::memcpy(&equal, bits, sizeof(equal));
  }
  return equal;
}

// Calls use(first, bytes) for each run of kMinRun or more.
template <class Use>
HWY_INLINE void for_each_run(std::span<const std::uint8_t> strip, const Use& use) {
  if (strip.empty()) return;
  std::size_t open = 0;  // bytes of a run that ends here
  std::size_t at = 1;
  const auto close = [&](std::size_t end) {
    if (open >= kMinRun) use(end - open, open);
    open = 0;
  };
  for (; at + kBlock <= strip.size(); at += kBlock) {
    std::uint64_t equal = equal_to_last(strip.data() + at);
    const auto leading = static_cast<unsigned>(std::countr_one(equal));
    open += leading;
    if (leading == kBlock) continue;
    close(at + leading);
    const auto trailing = static_cast<unsigned>(std::countl_one(equal));
    std::uint64_t starts = equal & equal >> 1;  // where kMinRun ones in a row begin
    static_assert(kMinRun == 16);
    for (const unsigned ones : {2U, 4U, 8U}) starts &= starts >> ones;
    starts &= ~std::uint64_t{0} << leading;
    while (starts != 0) {
      const auto first = static_cast<unsigned>(std::countr_zero(starts));
      const auto bytes = static_cast<unsigned>(std::countr_one(equal >> first));
      if (first + bytes == kBlock) break;
      use(at + first, bytes);
      starts &= ~std::uint64_t{0} << (first + bytes);
    }
    open = trailing;
  }
  for (; at < strip.size(); ++at) {
    if (strip[at] == strip[at - 1]) {
      ++open;
    } else {
      close(at);
    }
  }
  close(strip.size());
}

// Calls copy(length) for each copy in a run of `bytes`; returns how many bytes they cover.
template <class Copy>
HWY_INLINE std::size_t for_each_copy(std::size_t bytes, const Copy& copy) {
  std::size_t left = bytes;
  for (; left >= kMaxCopy; left -= kMaxCopy) copy(kMaxCopy);
  if (left >= kMinCopy) {
    copy(left);
    left = 0;
  }
  return bytes - left;
}

// Counts in several tables in turn, like kernels/shared/count_samples.cpp: incrementing one counter twice in
// a row stalls. The tables' distance is not a power of two, so that one value's counters do not alias.
class Tally {
 public:
  HWY_INLINE void add(const std::uint8_t* bytes, std::size_t count) {
    for (; count >= kTables; bytes += kTables, count -= kTables) {
      for (std::size_t half = 0; half < kTables; half += 8) {
        std::uint64_t word;
        std::memcpy(&word, bytes + half, sizeof(word));
        for (std::size_t i = 0; i < 8; ++i, word >>= 8) ++tables_[half + i][word & 255];
      }
    }
    for (std::size_t i = 0; i < count; ++i) ++tables_[0][bytes[i]];
  }
  void sum(std::uint32_t* symbols) const {
    for (const auto& table : tables_) {
      for (std::size_t v = 0; v < 256; ++v) symbols[v] += table[v];
    }
  }

 private:
  static constexpr std::size_t kTables = 16;
  std::uint32_t tables_[kTables][256 + 16] = {};
};

// Returns a mask: bit i is set if byte i of the block is not among -Near..Near.
template <int Near>
HWY_INLINE std::uint64_t far_bytes(const std::uint8_t* block) {
  const D8 d;
  std::uint8_t bits[kBlock / 8 + 8] = {};
  for (std::size_t i = 0; i < kBlock; i += hn::Lanes(d)) {
    const auto shifted = hn::Add(hn::LoadU(d, block + i), hn::Set(d, Near));
    hn::StoreMaskBits(d, hn::Gt(shifted, hn::Set(d, 2 * Near)), bits + i / 8);
  }
  std::uint64_t far;
  std::memcpy(&far, bits, sizeof(far));
  return far;
}

// Counts the bytes -Near..Near of whole blocks by comparisons, and the others one by one. Returns the bytes
// of these blocks.
template <int Near>
HWY_INLINE std::size_t count_near(std::span<const std::uint8_t> strip, std::uint32_t* symbols) {
  const D8 d;
  const hn::Repartition<std::uint64_t, D8> d64;
  constexpr std::size_t kBlocksAtOnce = 63;  // 252 vectors of 16 bytes: no sum of a lane exceeds 255
  std::size_t at = 0;
  while (at + kBlock <= strip.size()) {
    const std::size_t end = at + std::min((strip.size() - at) / kBlock, kBlocksAtOnce) * kBlock;
    decltype(hn::Zero(d)) sums[2 * Near + 1];
    for (auto& sum : sums) sum = hn::Zero(d);
    for (; at < end; at += kBlock) {
      const std::uint8_t* const block = strip.data() + at;
      for (std::size_t i = 0; i < kBlock; i += hn::Lanes(d)) {
        const auto bytes = hn::LoadU(d, block + i);
        for (int value = -Near; value <= Near; ++value) {
          const auto equal = hn::Eq(bytes, hn::Set(d, static_cast<std::uint8_t>(value)));
          sums[value + Near] = hn::Sub(sums[value + Near], hn::VecFromMask(d, equal));
        }
      }
      for (std::uint64_t far = far_bytes<Near>(block); far != 0; far &= far - 1)
        ++symbols[block[std::countr_zero(far)]];
    }
    for (int value = -Near; value <= Near; ++value) {
      const auto sum = hn::SumOfLanes(d64, hn::SumsOf8(sums[value + Near]));
      symbols[static_cast<std::uint8_t>(value)] += static_cast<std::uint32_t>(hn::GetLane(sum));
    }
  }
  return at;
}

// Most bytes of a filtered image are near 0; samples of the strip show how near.
void count_literals(std::span<const std::uint8_t> strip, std::uint32_t* symbols) {
  if constexpr (hn::MaxLanes(D8()) >= 16) {
    constexpr std::size_t kSampledBytes = 16 * kBlock;
    std::size_t samples = 0;
    int beyond_one = 0, beyond_four = 0;
    for (std::size_t at = 0; at + kSampledBytes <= strip.size(); at += kSampledBytes) {
      samples += kBlock;
      beyond_one += std::popcount(far_bytes<1>(strip.data() + at));
      beyond_four += std::popcount(far_bytes<4>(strip.data() + at));
    }
    if (static_cast<std::size_t>(beyond_one) * 32 < samples) {
      strip = strip.subspan(count_near<1>(strip, symbols));
    } else if (static_cast<std::size_t>(beyond_four) * 8 < samples) {
      strip = strip.subspan(count_near<4>(strip, symbols));
    }
  }
  if (strip.empty()) return;
  Tally tally;
  tally.add(strip.data(), strip.size());
  tally.sum(symbols);
}

// Counts all bytes as literals, then subtracts those in copies.
void count_all(std::span<const std::uint8_t> strip, StripCounts& counts) {
  count_literals(strip, counts.symbols.data());
  for_each_run(strip, [&](std::size_t first, std::size_t bytes) {
    const std::size_t copied = for_each_copy(bytes, [&](std::size_t length) {
      const LengthSymbol symbol = length_symbol(length);
      ++counts.symbols[symbol.symbol];
      ++counts.copies;
      counts.extra_bits += symbol.extra_bits;
    });
    counts.symbols[strip[first]] -= static_cast<std::uint32_t>(copied);
    counts.copied_bytes += copied;
  });
}

// Codes of consecutive symbols, joined. The low 8 bits of `bits` are the sum of their lengths; the others
// have no meaning, so that whole entries can be added. A shift uses the six lowest bits.
struct Joined {
  std::uint64_t code;
  std::uint32_t bits;
};
HWY_INLINE Joined joined_of(std::uint32_t entry) {
  return {entry >> 8, entry};
}
HWY_INLINE Joined join(Joined first, Joined second) {
  return {first.code | second.code << (first.bits & 63), first.bits + second.bits};
}

// The entry of a pair whose codes have more bits together, too many for any put(). Entries have the layout of
// PackTable.
constexpr std::uint32_t kMaxPairBits = 24;
constexpr std::uint32_t kLongPair = 63;

// In the index of an entry, the second literal is the high byte. Entries for literals that do not occur are
// invalid.
void fill_pairs(const PackTable& table, PairTable& pairs) {
  const hn::CappedTag<std::uint32_t, 16> d;
  const auto byte = hn::Set(d, 255);
  for (std::size_t second = 0; second < 256; ++second) {
    const auto code = hn::Set(d, table[second] >> 8);
    const auto bits = hn::Set(d, table[second] & 255);
    if ((table[second] & 255) == 0) continue;
    for (std::size_t first = 0; first < 256; first += hn::Lanes(d)) {
      const auto entry = hn::LoadU(d, table.data() + first);
      const auto first_bits = hn::And(entry, byte);
      const auto both_bits = hn::Add(first_bits, bits);
      const auto both = hn::Or(hn::ShiftRight<8>(entry), hn::Shl(code, first_bits));
      const auto fits = hn::Lt(both_bits, hn::Set(d, kMaxPairBits + 1));
      const auto pair = hn::Or(hn::ShiftLeft<8>(both), both_bits);
      hn::StoreU(hn::IfThenElse(fits, pair, hn::Set(d, kLongPair)), d, pairs.data() + 256 * second + first);
    }
  }
}

class LiteralPacker {
 public:
  HWY_INLINE LiteralPacker(const PackTable& table, const PairTable* pairs) : table_(table), pairs_(pairs) {}

  // `readable`: at least eight more bytes may be read after the `count` bytes.
  HWY_INLINE void pack(const std::uint8_t* bytes, std::size_t count, bool readable, BitPacker& out) const {
    BitPacker packer = out;  // stays in registers
    if (pairs_ != nullptr) {
      for (; count >= 8; bytes += 8, count -= 8) {
        const Joined all = join(join(pair(bytes), pair(bytes + 2)), join(pair(bytes + 4), pair(bytes + 6)));
        put_eight(all, bytes, packer);
      }
    } else {
      for (; count >= 8; bytes += 8, count -= 8) put_eight(join(four(bytes), four(bytes + 4)), bytes, packer);
    }
    if (readable) {  // avoids a branch on the remaining count, which is hard to predict
      for (std::size_t i = 0; i < 8; i += 4) {
        put(join(one_of(bytes, i, count), one_of(bytes, i + 1, count)), packer);
        put(join(one_of(bytes, i + 2, count), one_of(bytes, i + 3, count)), packer);
      }
    } else {
      for (; count > 0; ++bytes, --count) put(one(bytes), packer);
    }
    out = packer;
  }

 private:
  HWY_INLINE Joined one(const std::uint8_t* byte) const { return joined_of(table_[*byte]); }
  // Returns no bits for i >= count.
  HWY_INLINE Joined one_of(const std::uint8_t* bytes, std::size_t i, std::size_t count) const {
    return joined_of(table_[bytes[i]] & (i < count ? ~0U : 0U));
  }
  HWY_INLINE Joined four(const std::uint8_t* bytes) const {
    return join(join(one(bytes), one(bytes + 1)), join(one(bytes + 2), one(bytes + 3)));
  }
  HWY_INLINE Joined pair(const std::uint8_t* bytes) const {
    std::uint16_t both;
    std::memcpy(&both, bytes, sizeof(both));
    return joined_of((*pairs_)[both]);
  }
  HWY_INLINE static void put(Joined joined, BitPacker& packer) {
    packer.put_now(joined.code, joined.bits & 255);
  }
  // `all`: the codes of the eight bytes joined, valid if they fit into one put().
  HWY_INLINE void put_eight(Joined all, const std::uint8_t* bytes, BitPacker& packer) const {
    static_assert(kLongPair > BitPacker::kMaxAtOnce && 4 * kLongPair < 256);
    if (HWY_LIKELY((all.bits & 255) <= BitPacker::kMaxAtOnce)) return put(all, packer);
    for (std::size_t i = 0; i < 8; i += 2) put(join(one(bytes + i), one(bytes + i + 1)), packer);
  }

  const PackTable& table_;
  const PairTable* pairs_;
};

// The codes of copies by length, with their extra bits and distance.
class CopyCodes {
 public:
  explicit CopyCodes(const PackTable& table) {
    for (std::size_t length = kMinCopy; length <= kMaxCopy; ++length) {
      const LengthSymbol symbol = length_symbol(length);
      const std::uint32_t entry = table[symbol.symbol];
      const std::uint32_t bits = entry & 255;
      // The only distance has the code 0, of one bit.
      codes_[length] = {(entry >> 8) | std::uint64_t{symbol.extra} << bits, bits + symbol.extra_bits + 1};
    }
  }
  HWY_INLINE void pack(std::size_t length, BitPacker& out) const {
    out.put_now(codes_[length].code, codes_[length].bits);
  }

 private:
  Joined codes_[kMaxCopy + 1] = {};
};

void pack_all(std::span<const std::uint8_t> strip, const PackTable& table, PairTable* pairs, BitPacker& out) {
  if (strip.size() < kMinPairStripBytes) pairs = nullptr;
  if (pairs != nullptr) fill_pairs(table, *pairs);
  const LiteralPacker literals(table, pairs);
  const CopyCodes copies(table);
  std::size_t done = 0;
  for_each_run(strip, [&](std::size_t first, std::size_t bytes) {
    static_assert(kMinRun >= 8);  // a run follows the literals, so `readable` is true
    literals.pack(strip.data() + done, first - done, true, out);
    done = first + for_each_copy(bytes, [&](std::size_t length) { copies.pack(length, out); });
  });
  literals.pack(strip.data() + done, strip.size() - done, false, out);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {

HWY_EXPORT(count_all);
HWY_EXPORT(pack_all);

StripCounts count_tokens(std::span<const std::uint8_t> strip) {
  StripCounts counts;
  HWY_DYNAMIC_DISPATCH(count_all)(strip, counts);
  return counts;
}

void pack_tokens(std::span<const std::uint8_t> strip, const PackTable& table, PairTable* pairs,
                 BitPacker& out) {
  HWY_DYNAMIC_DISPATCH(pack_all)(strip, table, pairs, out);
}

}  // namespace imgpipe
#endif
