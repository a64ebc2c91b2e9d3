// Projections: every instruction set against the reference, and the reference against sorted samples and
// sums. tests/python/test_stack.py compares whole runs with numpy.
#include "kernels/projection/projection.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "images/image.h"
#include "images/simd.h"

namespace imgpipe::projection_test {
namespace {

constexpr Projection kProjections[] = {Projection::max, Projection::min, Projection::mean, Projection::sum,
                                       Projection::median};

template <class T>
T random_sample(std::mt19937& random) {
  if constexpr (kIsFloat<T>) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    constexpr float kSpecial[] = {0.0F, -0.0F, kInfinity, -kInfinity, 1e-45F, 3e38F, -3e38F};
    const auto choice = random() % 64;
    if (choice < std::size(kSpecial)) return kSpecial[choice];
    if (choice == 63 && random() % 8 == 0) return std::numeric_limits<float>::quiet_NaN();
    return static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 7;
  } else {
    // Few distinct values make ties.
    return static_cast<T>(random() % 4 == 0 ? random() : random() % 2 * (kLargest<T> - 1) + random() % 2);
  }
}

template <class T>
struct Items {
  Items(std::size_t count, std::int64_t samples, unsigned seed) : samples_(samples) {
    std::mt19937 random(seed);
    items.resize(count, std::vector<T>(static_cast<std::size_t>(samples)));
    for (auto& item : items) {
      for (T& sample : item) sample = random_sample<T>(random);
      pointers.push_back(reinterpret_cast<const std::byte*>(item.data()));
    }
  }
  [[nodiscard]] ProjectedItems part(std::size_t first, std::size_t count) const {
    return {
        .sample = sample_type_of<T>, .items = std::span(pointers).subspan(first, count), .samples = samples_};
  }
  [[nodiscard]] ProjectedItems all() const { return part(0, pointers.size()); }

  std::int64_t samples_;
  std::vector<std::vector<T>> items;
  std::vector<const std::byte*> pointers;
};

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

// The result for items that are added in groups.
template <class T>
std::vector<T> result_of(Projection projection, const Items<T>& items, std::size_t group, bool is_reference) {
  std::vector<T> out(static_cast<std::size_t>(items.samples_));
  auto* const to = reinterpret_cast<std::byte*>(out.data());
  if (projection == Projection::median) {
    Image scratch({median_scratch_bytes(items.pointers.size()), 1, 1});
    if (is_reference)
      median_of_items_reference(items.all(), to);
    else
      median_of_items_cpu(items.all(), scratch.untyped_view().data, to);
    return out;
  }
  const auto bytes = static_cast<std::size_t>(items.samples_ * state_bytes(projection, sample_type_of<T>));
  std::vector<std::uint64_t> state(bytes / 8 + 1);
  auto* const at = reinterpret_cast<std::byte*>(state.data());
  std::memset(at, std::to_integer<int>(initial_state(projection)), bytes);
  for (std::size_t i = 0; i < items.pointers.size(); i += group) {
    const ProjectedItems part = items.part(i, std::min(group, items.pointers.size() - i));
    (is_reference ? add_items_reference : add_items_cpu)(projection, part, at);
  }
  finish_projection(projection, sample_type_of<T>, items.pointers.size(), at, items.samples_,
                    sample_type_of<T>, to);
  return out;
}

template <class T>
T expected_of(Projection projection, const Items<T>& items, std::size_t i) {
  std::vector<T> samples;
  for (const auto& item : items.items) samples.push_back(item[i]);
  const auto is_nan = [](T v) { return v != v; };
  if constexpr (kIsFloat<T>) {
    if (std::ranges::any_of(samples, is_nan)) return std::numeric_limits<float>::quiet_NaN();
  }
  long double sum = 0;
  double in_order = 0;
  for (const T v : samples) {
    sum += v;
    in_order += v;
  }
  std::ranges::sort(samples, [](T a, T b) {
    return a < b || (a == b && std::signbit(static_cast<double>(a)) && !std::signbit(static_cast<double>(b)));
  });
  const std::size_t n = samples.size();
  const double middle = (static_cast<double>(samples[(n - 1) / 2]) + static_cast<double>(samples[n / 2])) / 2;
  if (projection == Projection::max) return samples.back();
  if (projection == Projection::min) return samples.front();
  if constexpr (kIsFloat<T>) {
    double v = projection == Projection::median ? middle
               : projection == Projection::mean ? in_order / static_cast<double>(n)
                                                : in_order;
    return v != v ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(v);
  } else {
    if (projection == Projection::median) return static_cast<T>(std::floor(middle + 0.5));
    if (projection == Projection::sum) return static_cast<T>(std::min<long double>(sum, kLargest<T>));
    return static_cast<T>(std::floor(sum / static_cast<long double>(n) + 0.5L));
  }
}

template <class T>
void expect_equal(std::size_t count, std::int64_t samples, unsigned seed) {
  const Items<T> items(count, samples, seed);
  for (const Projection projection : kProjections) {
    const std::string text = std::to_string(static_cast<int>(projection)) + " of " + std::to_string(count) +
                             " items of " + std::to_string(samples);
    const std::vector<T> reference = result_of(projection, items, count, true);
    std::vector<T> expected;
    for (std::size_t i = 0; i < reference.size(); ++i) expected.push_back(expected_of(projection, items, i));
    ASSERT_TRUE(same_bits(reference, expected)) << text;
    for (const std::string& target : simd_targets()) {
      use_simd(target);
      for (const std::size_t group : {count, std::size_t{1}, std::size_t{3}})
        ASSERT_TRUE(same_bits(result_of(projection, items, group, false), expected)) << target << ' ' << text;
    }
    use_simd("");
  }
}

TEST(Projection, EveryInstructionSetEqualsTheReference) {
  unsigned seed = 0;
  for (const std::size_t count : {1, 2, 3, 4, 7, 16, 255, 256, 300}) {
    for (const std::int64_t samples : {1, 5, 63, 257}) {
      expect_equal<Sample8>(count, samples, ++seed);
      expect_equal<Sample16>(count, samples, ++seed);
      expect_equal<float>(count, samples, ++seed);
      if (HasFatalFailure()) return;
    }
  }
}

// The numbers of items that 16 bits cannot count.
TEST(Projection, ManyItems) {
  expect_equal<Sample8>(kMaxItemsAtOnce, 3, 1);
  expect_equal<Sample16>(kMaxItemsAtOnce - 1, 3, 2);
}

TEST(Projection, LargestSums) {
  constexpr std::uint64_t kItems = std::uint64_t{1} << 40;
  EXPECT_EQ(mean_of<Sample16>(kItems * 65535, kItems), 65535);
  EXPECT_EQ(mean_of<Sample16>(3, 2), 2);  // 1.5
  EXPECT_EQ(mean_of<Sample8>(5, 4), 1);   // 1.25
  EXPECT_EQ(limited_sum<Sample8>(256), 255);
  EXPECT_EQ(float_sum<Sample16>(3 * 65535), 3.0F);
}

}  // namespace
}  // namespace imgpipe::projection_test
