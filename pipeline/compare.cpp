#include "pipeline/compare.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "kernels/shared/float_sample.h"
#include "kernels/stage.h"

namespace imgpipe {

Difference compare_counts(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  Difference difference;
  difference.of_bins = true;
  if (a.size() != b.size()) throw std::logic_error("histograms of different shapes");
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    ++difference.count;
    difference.largest = std::max(difference.largest, a[i] > b[i] ? a[i] - b[i] : b[i] - a[i]);
  }
  return difference;
}

std::string Difference::text() const {
  if (identical()) return "identical";
  const std::string unit = of_bins ? "bin" : "pixel";
  return std::to_string(count) + " " + unit + (count == 1 ? " differs" : "s differ") + " (max " +
         std::to_string(largest) + ")";
}

namespace {

// For floats, the difference of their bits as integers; those of 16 bits are compared as integers.
template <class T>
std::uint64_t distance(T a, T b) {
  if constexpr (kIsFloat<T>) {
    const auto a_bits = std::int64_t{float_bits(a)};
    const auto b_bits = std::int64_t{float_bits(b)};
    return static_cast<std::uint64_t>(std::abs(a_bits - b_bits));
  } else {
    return static_cast<std::uint64_t>(std::abs(a - b));
  }
}

template <class T>
Difference compare_samples(const Frame<const std::byte, Host>& a, const Frame<const std::byte, Host>& b) {
  Difference difference;
  for (std::int64_t y = 0; y < a.type.height; ++y) {
    for (std::int64_t x = 0; x < a.type.width; ++x) {
      std::uint64_t largest = 0;
      for (std::size_t p = 0; p < a.planes.size(); ++p) {
        if (a.planes[p].empty() != b.planes[p].empty()) throw std::logic_error("frames of different planes");
        for (int c = 0; c < (a.planes[p].empty() ? 0 : a.planes[p].channels); ++c) {
          const std::int64_t at = x * a.planes[p].channels + c;
          largest = std::max(largest, distance(a.plane<T>(p).row(y)[at], b.plane<T>(p).row(y)[at]));
        }
      }
      difference.count += largest > 0 ? 1 : 0;
      difference.largest = std::max(difference.largest, largest);
    }
  }
  return difference;
}

}  // namespace

Difference compare_frames(const Frame<const std::byte, Host>& a, const Frame<const std::byte, Host>& b) {
  if (a.type != b.type) throw std::logic_error("frames of different types");
  switch (a.type.sample) {
    case Sample::u8:
      return compare_samples<Sample8>(a, b);
    case Sample::f32:
      return compare_samples<float>(a, b);
    case Sample::u16:
    case Sample::f16:
    case Sample::bf16:
      return compare_samples<Sample16>(a, b);
  }
  unreachable();
}

std::vector<Difference> compare_outcomes(const Outcome& tested, const Outcome& reference) {
  if (tested.plan.steps.size() != reference.plan.steps.size())
    throw std::logic_error("outcomes of different plans");
  std::vector<Difference> differences;
  for (std::size_t i = 0; i < tested.plan.steps.size(); ++i) {
    if (tested.plan.steps[i].label != reference.plan.steps[i].label) {
      throw std::logic_error("outcomes of different plans");
    }
    differences.push_back(compare_counts(tested.histograms[i], reference.histograms[i]));
    if (differences.back().identical())
      differences.back() = compare_frames(tested.outputs[i], reference.outputs[i]);
  }
  return differences;
}

}  // namespace imgpipe
