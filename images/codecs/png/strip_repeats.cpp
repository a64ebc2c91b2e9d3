#include "images/codecs/png/strip_repeats.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "images/codecs/png/strip_repeats.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D32 = hn::CappedTag<std::uint32_t, 16>;

// Returns the position of the least key in the cell, from its start; reads 3 bytes past the cell.
std::size_t min_key(const std::uint8_t* cell) {
  const D32 d;
  const hn::Repartition<std::uint8_t, D32> d8;
  const std::size_t step = 4 * hn::Lanes(d);
  const auto multiplier = hn::Set(d, kKeyMultiplier);
  const auto of_key = hn::Set(d, ~std::uint32_t{kRepeatCell - 1});
  auto least = hn::Set(d, ~std::uint32_t{0});
  auto position = hn::ShiftLeft<2>(hn::Iota(d, 0));
  for (std::size_t at = 0; at < kRepeatCell; at += step) {
    for (std::size_t offset = 0; offset < 4; ++offset) {
      const auto word = hn::BitCast(d, hn::LoadU(d8, cell + at + offset));
      const auto key = hn::AndNot(hn::Mul(word, multiplier), of_key);
      least =
          hn::Min(least, hn::Or(key, hn::Add(position, hn::Set(d, static_cast<std::uint32_t>(at + offset)))));
    }
  }
  return hn::GetLane(hn::MinOfLanes(d, least)) & (kRepeatCell - 1);
}

void min_keys(const std::uint8_t* strip, std::span<std::uint16_t> positions) {
  for (std::uint16_t& position : positions) {
    position = static_cast<std::uint16_t>(min_key(strip));
    strip += kCellStep;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {
namespace {

HWY_EXPORT(min_keys);

// Returns the size of the window at `from`; 0 if there is none.
std::size_t window_bytes(const std::uint8_t* from, std::span<const std::uint8_t> lengths) {
  unsigned bits = 0;
  for (std::size_t bytes = 1; bytes <= kMaxWindowBytes; ++bytes) {
    bits += lengths[from[bytes - 1]];
    if (bits < kWindowBits) continue;
    const bool is_run = std::all_of(from, from + bytes, [from](std::uint8_t byte) { return byte == *from; });
    return is_run ? 0 : bytes;
  }
  return 0;
}

std::uint64_t window_hash(const std::uint8_t* from, std::size_t bytes) {
  std::array<std::uint64_t, kMaxWindowBytes / 8> words{};
  std::memcpy(words.data(), from, bytes);
  std::uint64_t sum = bytes;
  for (const std::uint64_t word : words) sum = hash_step(sum, word);
  return sum;
}

// A hash set of numbers, with at least two slots per number.
class SeenSet {
 public:
  explicit SeenSet(std::size_t most) : hash_slots_(std::bit_ceil(2 * most)) {}
  // Returns false if the set already contains the number. Ignores 0, which marks a free slot.
  bool add(std::uint64_t number) {
    if (number == 0) return true;
    // An odd step, different for each number, reaches all slots, so that chosen numbers do not all collide.
    for (std::uint64_t at = number >> 20;; at += number >> 41 | 1) {
      std::uint64_t& place = hash_slots_[at & (hash_slots_.size() - 1)];
      if (place == number) return false;
      if (place != 0) continue;
      place = number;
      return true;
    }
  }

 private:
  std::vector<std::uint64_t> hash_slots_;
};

}  // namespace

StripRepeats find_repeats(std::span<const std::uint8_t> strip, std::span<const std::uint8_t> lengths,
                          WindowPosition place) {
  StripRepeats found;
  const std::size_t cells = repeat_cells(strip.size());
  if (cells == 0) return found;
  std::vector<std::uint16_t> positions(cells);
  if (place == WindowPosition::min_key) HWY_DYNAMIC_DISPATCH(min_keys)(strip.data(), positions);
  SeenSet seen(cells);
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const std::uint8_t* from = strip.data() + cell * kCellStep + positions[cell];
    const std::size_t bytes = window_bytes(from, lengths);
    if (bytes == 0) continue;
    ++found.windows;
    if (!seen.add(window_hash(from, bytes))) ++found.repeated;
  }
  return found;
}

std::int64_t repeats_working_bytes(std::int64_t strip_bytes) {
  const auto cells = static_cast<std::uint64_t>(strip_bytes) / kCellStep + 1;
  return static_cast<std::int64_t>(cells * sizeof(std::uint16_t) +
                                   std::bit_ceil(2 * cells) * sizeof(std::uint64_t));
}

}  // namespace imgpipe
#endif
