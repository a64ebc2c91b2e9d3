// Works on 64 bytes at a time. In photographs, most groups of 64 bytes contain a 0xFF; shuffles close the
// gaps without branches.
#include "images/codecs/jpeg/unstuffing.h"

#include <array>
#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "images/codecs/jpeg/unstuffing.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef IMGPIPE_UNSTUFFING
#define IMGPIPE_UNSTUFFING
namespace imgpipe {
namespace {

// Shuffle indices, by the mask of removed bytes among 8 (bit i: byte i): the positions of the remaining
// bytes, in order; the rest are arbitrary.
struct alignas(16) ShuffleIndices {
  std::uint8_t of[16];
};
using Shuffles = std::array<ShuffleIndices, 256>;

constexpr Shuffles make_shuffles() {
  Shuffles shuffles{};
  for (unsigned removed_bytes = 0; removed_bytes < 256; ++removed_bytes) {
    std::size_t count = 0;
    for (unsigned i = 0; i < 8; ++i) {
      if ((removed_bytes >> i & 1) == 0) shuffles[removed_bytes].of[count++] = static_cast<std::uint8_t>(i);
    }
  }
  return shuffles;
}
constexpr Shuffles kShuffles = make_shuffles();

// Copies one byte, and skips the zero after a 0xFF. Returns false for a 0xFF without a zero.
inline bool unstuff_byte(Unstuffed& at, const std::uint8_t* end) {
  const bool marked = *at.in == 0xFF;
  if (marked && (end - at.in < 2 || at.in[1] != 0)) return false;
  *at.out++ = *at.in;
  at.in += marked ? 2 : 1;
  return true;
}

}  // namespace
}  // namespace imgpipe
#endif

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
constexpr hn::FixedTag<std::uint8_t, 16> kBlock;
constexpr hn::CappedTag<std::uint8_t, 64> kWide;
constexpr std::size_t kAtOnce = 64;

// Returns a mask of the bytes, among 64, that equal `value`.
HWY_INLINE std::uint64_t find(const std::uint8_t* bytes, std::uint8_t value) {
  constexpr std::size_t kLanes = hn::MaxLanes(kWide);
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < kAtOnce; i += kLanes) {
    std::uint8_t bits[8];
    (void)hn::StoreMaskBits(kWide, hn::Eq(hn::LoadU(kWide, bytes + i), hn::Set(kWide, value)), bits);
    std::uint64_t part = 0;
    std::memcpy(&part, bits, kLanes / 8);
    found |= part << i;
  }
  return found;
}

// Copies 16 bytes without those in `removed_bytes`. Returns the end of the copy; writes up to 24 bytes.
HWY_INLINE std::uint8_t* store_rest(const std::uint8_t* in, std::uint32_t removed_bytes, std::uint8_t* out) {
  const auto bytes = hn::LoadU(kBlock, in);
  const std::uint32_t lower = removed_bytes & 0xFF, upper = removed_bytes >> 8;
  hn::StoreU(hn::TableLookupBytes(bytes, hn::Load(kBlock, kShuffles[lower].of)), kBlock, out);
  out += 8 - std::popcount(lower);
  const auto second = hn::ShiftRightBytes<8>(kBlock, bytes);
  hn::StoreU(hn::TableLookupBytes(second, hn::Load(kBlock, kShuffles[upper].of)), kBlock, out);
  return out + 8 - std::popcount(upper);
}

Unstuffed unstuff_vectors(const std::uint8_t* in, const std::uint8_t* end, std::uint8_t* out) {
  Unstuffed at{in, out};
  // The byte before `at.in` is never a 0xFF whose zero is still ahead.
  while (end - at.in > static_cast<std::ptrdiff_t>(kAtOnce)) {
    const std::uint64_t marks = find(at.in, 0xFF);
    if (marks == 0) {
      for (std::size_t i = 0; i < kAtOnce; i += 16)
        hn::StoreU(hn::LoadU(kBlock, at.in + i), kBlock, at.out + i);
      at.in += kAtOnce;
      at.out += kAtOnce;
      continue;
    }
    const std::uint64_t removed_bytes = marks << 1;
    const bool open = (marks >> 63) != 0;  // its zero must be the next byte
    if ((removed_bytes & ~find(at.in, 0)) != 0 || (open && at.in[kAtOnce] != 0)) break;
    for (std::size_t i = 0; i < kAtOnce; i += 16)
      at.out = store_rest(at.in + i, static_cast<std::uint32_t>(removed_bytes >> i & 0xFFFF), at.out);
    at.in += kAtOnce + (open ? 1 : 0);
  }
  // The end, or a 0xFF without a zero, is near.
  while (end - at.in >= 16) {
    const auto bytes = hn::LoadU(kBlock, at.in);
    hn::StoreU(bytes, kBlock, at.out);
    std::uint8_t bits[8];
    (void)hn::StoreMaskBits(kBlock, hn::Eq(bytes, hn::Set(kBlock, 0xFF)), bits);
    const int count = std::countr_zero(bits[0] | static_cast<unsigned>(bits[1]) << 8 | 1U << 16);
    at.in += count;
    at.out += count;
    if (count < 16 && !unstuff_byte(at, end)) return at;
  }
  while (at.in < end && unstuff_byte(at, end)) {
  }
  return at;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {

HWY_EXPORT(unstuff_vectors);

Unstuffed unstuff(const std::uint8_t* in, const std::uint8_t* end, std::uint8_t* out) {
  return HWY_DYNAMIC_DISPATCH(unstuff_vectors)(in, end, out);
}

}  // namespace imgpipe
#endif
