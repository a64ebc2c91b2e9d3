// Tests the median's exchange lists for every possible input, by the 0-1 principle (Knuth, The Art of
// Computer Programming 3, 5.3.4): lists that are right for all inputs of zeros and ones are right for all.
#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/median/network.h"

namespace imgpipe::test::median_network_test {
namespace {

template <class Exchanges>
void exchange_all(std::vector<int>& values, const Exchanges& exchanges) {
  for (const Exchange& e : exchanges) {
    if (values[e.low] > values[e.high]) std::swap(values[e.low], values[e.high]);
  }
}

template <int Radius>
void expect_sorted_columns() {
  constexpr unsigned kTaps = 2 * Radius + 1;
  for (unsigned input = 0; input < 1U << kTaps; ++input) {
    std::vector<int> column(kTaps);
    for (unsigned k = 0; k < kTaps; ++k) column[k] = static_cast<int>(input >> k & 1);
    exchange_all(column, MedianNetwork<Radius>::kColumn);
    EXPECT_TRUE(std::ranges::is_sorted(column)) << "radius " << Radius << " input " << input;
  }
}

// Sorted columns of zeros and ones differ only in their number of ones: 0 to kTaps each.
template <int Radius>
std::vector<int> sorted_columns(unsigned input) {
  constexpr unsigned kTaps = 2 * Radius + 1;
  std::vector<int> window(std::size_t{kTaps} * kTaps);
  for (unsigned k = 0; k < kTaps; ++k, input /= kTaps + 1) {
    for (unsigned r = kTaps - input % (kTaps + 1); r < kTaps; ++r) window[r * kTaps + k] = 1;
  }
  return window;
}

// Returns the number of inputs for which an exchange list is wrong.
template <int Radius, class Exchanges>
unsigned wrong_medians(const Exchanges& exchanges) {
  constexpr unsigned kTaps = 2 * Radius + 1;
  unsigned inputs = 1;
  for (unsigned k = 0; k < kTaps; ++k) inputs *= kTaps + 1;
  unsigned wrong = 0;
  for (unsigned input = 0; input < inputs; ++input) {
    std::vector<int> window = sorted_columns<Radius>(input);
    const auto ones = std::ranges::count(window, 1);
    exchange_all(window, exchanges);
    if ((window[MedianNetwork<Radius>::kResult] == 1) != (2 * ones > std::ssize(window))) ++wrong;
  }
  return wrong;
}

TEST(MedianNetwork, SortsEveryColumn) {
  expect_sorted_columns<1>();
  expect_sorted_columns<2>();
}

TEST(MedianNetwork, FindsTheMiddleOfAllSortedColumns) {
  EXPECT_EQ(wrong_medians<1>(MedianNetwork<1>::kMiddle), 0U);
  EXPECT_EQ(wrong_medians<2>(MedianNetwork<2>::kMiddle), 0U);
}

// Removing any exchange makes a network wrong for some input, and wrong_medians() must detect that.
TEST(MedianNetwork, NeedsEveryExchange) {
  const auto without = [](const auto& exchanges, std::size_t i) {
    std::vector<Exchange> rest(exchanges.begin(), exchanges.end());
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    return rest;
  };
  for (std::size_t i = 0; i < MedianNetwork<1>::kMiddle.size(); ++i)
    EXPECT_GT(wrong_medians<1>(without(MedianNetwork<1>::kMiddle, i)), 0U) << i;
  for (std::size_t i = 0; i < MedianNetwork<2>::kMiddle.size(); ++i)
    EXPECT_GT(wrong_medians<2>(without(MedianNetwork<2>::kMiddle, i)), 0U) << i;
}

}  // namespace
}  // namespace imgpipe::test::median_network_test
