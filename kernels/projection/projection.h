// Projection of many items of one shape onto one: the maximum, minimum, mean, sum or median of the samples at
// each position, alpha included (docs/pixels.md).
//
//   max, min, mean, sum   add_items() for one group of items after the other, then finish_projection()
//   median                median_of_items(), with all items at once
//
// Integers are exact, in any order of the items. Floats are added in doubles in the order of the items.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "images/sample.h"
#include "images/unreachable.h"
#include "kernels/shared/convert.h"
#include "kernels/shared/float_sample.h"

namespace imgpipe {

enum class Projection : std::uint8_t { max, min, mean, sum, median };

// The most items of one call of add_items(): sums of their samples fit into 32 bits.
inline constexpr std::size_t kMaxItemsAtOnce = 65536;

[[nodiscard]] constexpr bool is_total(Projection projection) {
  return projection == Projection::mean || projection == Projection::sum;
}

// The bytes of the state of a sample: the total so far, or the extreme; a float's is its key.
[[nodiscard]] constexpr std::int64_t state_bytes(Projection projection, Sample sample) {
  if (projection == Projection::median) return 0;
  return is_total(projection) ? 8 : bytes_per_sample(sample);
}
// Every byte of the state before the first item.
[[nodiscard]] constexpr std::byte initial_state(Projection projection) {
  return projection == Projection::min ? std::byte{0xFF} : std::byte{0};
}

// Integers in the order of floats: -infinity, ..., -0, 0, ..., infinity; NaN comes first or last.
[[nodiscard]] inline std::uint32_t key_of(float v, bool nan_is_last) {
  if (v != v) return nan_is_last ? 0xFFFFFFFFU : 0;
  const std::uint32_t bits = float_bits(v);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
}
[[nodiscard]] inline float float_of_key(std::uint32_t key) {
  if (key == 0 || key == 0xFFFFFFFFU) return float_of_bits(kNanBits);
  return float_of_bits((key & 0x80000000U) != 0 ? key & 0x7FFFFFFFU : ~key);
}

// The results for a total of integers: the mean, rounded half up; the sum, limited to the samples; the sum
// as a float, with white 1.
template <class T>
[[nodiscard]] constexpr T mean_of(std::uint64_t total, std::uint64_t items) {
  return static_cast<T>((2 * total + items) / (2 * items));
}
template <class T>
[[nodiscard]] constexpr T limited_sum(std::uint64_t total) {
  return static_cast<T>(total < std::uint64_t{kLargest<T>} ? total : std::uint64_t{kLargest<T>});
}
template <class T>
[[nodiscard]] constexpr float float_sum(std::uint64_t total) {
  return static_cast<float>(static_cast<double>(total) / kLargest<T>);
}

// The mean of the two middle samples: integers rounded half up, floats computed in doubles.
template <class T>
[[nodiscard]] T middle_of(T low, T high) {
  if constexpr (kIsFloat<T>) {
    return canonical(static_cast<float>((static_cast<double>(low) + static_cast<double>(high)) / 2));
  } else {
    return static_cast<T>((std::uint32_t{low} + high + 1) / 2);
  }
}

// `items`: the first sample of each, of type `sample` and aligned. `samples`: their number in each item and
// in the state or the result.
struct ProjectedItems {
  Sample sample = Sample::u8;
  std::span<const std::byte* const> items{};
  std::int64_t samples = 0;
};

// Adds 1 to kMaxItemsAtOnce items to the state.
void add_items_reference(Projection projection, const ProjectedItems& in, std::byte* state);
void add_items_cpu(Projection projection, const ProjectedItems& in, std::byte* state);

// Returns the bytes of memory that median_of_items_cpu() needs; aligned to 64 bytes.
[[nodiscard]] std::int64_t median_scratch_bytes(std::size_t items);
void median_of_items_reference(const ProjectedItems& in, std::byte* out);
void median_of_items_cpu(const ProjectedItems& in, std::byte* scratch, std::byte* out);

// Computes the results for `items` items of type `sample` from the state: `to` is `sample`, or f32 for a sum
// of integers.
void finish_projection(Projection projection, Sample sample, std::uint64_t items, const std::byte* state,
                       std::int64_t samples, Sample to, std::byte* out);

}  // namespace imgpipe
