#include "images/codecs/png/strip_tokens.h"

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

// Bit i: byte i of the block equals the byte before it, which is there for i = 0 as well.
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

// Calls use(first, bytes) for one run of kLeastRun or more after the other.
template <class Use>
HWY_INLINE void for_each_run(std::span<const std::uint8_t> strip, const Use& use) {
  if (strip.empty()) return;
  std::size_t open = 0;  // bytes of a run that reaches up to here
  std::size_t at = 1;
  const auto close = [&](std::size_t end) {
    if (open >= kLeastRun) use(end - open, open);
    open = 0;
  };
  for (; at + kBlock <= strip.size(); at += kBlock) {
    std::uint64_t equal = equal_to_last(strip.data() + at);
    const auto leading = static_cast<unsigned>(std::countr_one(equal));
    open += leading;
    if (leading == kBlock) continue;
    close(at + leading);
    const auto trailing = static_cast<unsigned>(std::countl_one(equal));
    std::uint64_t starts = equal & equal >> 1;  // where kLeastRun ones in a row are
    static_assert(kLeastRun == 8);
    starts &= starts >> 2;
    starts &= starts >> 4;
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

// Calls literals(first, bytes) and copy(length), which are all of the strip in its order.
template <class Literals, class Copy>
HWY_INLINE void for_each_token(std::span<const std::uint8_t> strip, const Literals& literals,
                               const Copy& copy) {
  std::size_t done = 0;
  for_each_run(strip, [&](std::size_t first, std::size_t bytes) {
    literals(done, first - done);
    for (; bytes >= kLongestCopy; bytes -= kLongestCopy, first += kLongestCopy) copy(kLongestCopy);
    if (bytes >= kLeastCopy) {
      copy(bytes);
      first += bytes;
    }
    done = first;
  });
  literals(done, strip.size() - done);
}

// Four tables: one symbol twice in a row would wait for its own count.
class Tally {
 public:
  HWY_INLINE void add(const std::uint8_t* bytes, std::size_t count) {
    for (; count >= 8; bytes += 8, count -= 8) {
      std::uint64_t word;
      std::memcpy(&word, bytes, sizeof(word));
      for (std::size_t i = 0; i < 8; ++i) ++tables_[i % 4][word >> 8 * i & 255];
    }
    for (; count > 0; ++bytes, --count) ++tables_[0][*bytes];
  }
  void sum(std::uint32_t* symbols) const {
    for (std::size_t v = 0; v < 256; ++v)
      symbols[v] = tables_[0][v] + tables_[1][v] + tables_[2][v] + tables_[3][v];
  }

 private:
  std::uint32_t tables_[4][256] = {};
};

void count_all(std::span<const std::uint8_t> strip, StripCounts& counts) {
  Tally tally;
  for_each_token(
      strip, [&](std::size_t first, std::size_t bytes) { tally.add(strip.data() + first, bytes); },
      [&](std::size_t length) {
        const LengthSymbol symbol = length_symbol(length);
        ++counts.symbols[symbol.symbol];
        ++counts.copies;
        counts.copied_bytes += length;
        counts.extra_bits += symbol.extra_bits;
      });
  tally.sum(counts.symbols.data());
}

// Codes of four symbols or more that follow one another, joined before they are put: the lengths are added up
// in the lowest 8 bits.
struct Joined {
  std::uint64_t code;
  std::uint32_t bits;
};
HWY_INLINE Joined join(Joined first, Joined second) {
  return {first.code | second.code << (first.bits & 63), first.bits + second.bits};
}

HWY_INLINE void pack_literals(const std::uint8_t* bytes, std::size_t count, const PackTable& table,
                              BitPacker& out) {
  BitPacker packer = out;  // in registers
  const auto entry = [&](std::size_t i) {
    const std::uint32_t found = table[bytes[i]];
    return Joined{found >> 8, found};
  };
  for (; count >= 4; bytes += 4, count -= 4) {
    const Joined first = join(entry(0), entry(1));
    const Joined second = join(entry(2), entry(3));
    const Joined four = join(first, second);
    const unsigned bits = four.bits & 255;
    if (HWY_LIKELY(bits <= BitPacker::kMostAtOnce)) {
      packer.put_now(four.code, bits);
    } else {
      packer.put_now(first.code, first.bits & 255);
      packer.put_now(second.code, second.bits & 255);
    }
  }
  for (; count > 0; ++bytes, --count) {
    const Joined one = entry(0);
    packer.put_now(one.code, one.bits & 255);
  }
  out = packer;
}

void pack_all(std::span<const std::uint8_t> strip, const PackTable& table, BitPacker& out) {
  for_each_token(
      strip,
      [&](std::size_t first, std::size_t bytes) { pack_literals(strip.data() + first, bytes, table, out); },
      [&](std::size_t length) {
        const LengthSymbol symbol = length_symbol(length);
        out.put(table[symbol.symbol] >> 8, table[symbol.symbol] & 255);
        out.put(symbol.extra, symbol.extra_bits + 1U);  // the one distance has the code 0
        out.flush();
      });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {

HWY_EXPORT(count_all);
HWY_EXPORT(pack_all);

LengthSymbol length_symbol(std::size_t length) {
  if (length == kLongestCopy) return {285, 0, 0};
  const auto beyond = static_cast<unsigned>(length - kLeastCopy);
  if (beyond < 8) return {static_cast<std::uint16_t>(257 + beyond), 0, 0};
  // Four symbols for each power of two.
  const auto bits = static_cast<unsigned>(std::bit_width(beyond)) - 3;
  return {static_cast<std::uint16_t>(257 + 4 * bits + (beyond >> bits)), static_cast<std::uint8_t>(bits),
          static_cast<std::uint8_t>(beyond & ((1U << bits) - 1))};
}

StripCounts count_tokens(std::span<const std::uint8_t> strip) {
  StripCounts counts;
  HWY_DYNAMIC_DISPATCH(count_all)(strip, counts);
  return counts;
}

void pack_tokens(std::span<const std::uint8_t> strip, const PackTable& table, BitPacker& out) {
  HWY_DYNAMIC_DISPATCH(pack_all)(strip, table, out);
}

}  // namespace imgpipe
#endif
