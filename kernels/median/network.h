// Medians of square windows by exchanges without branches: the steps are the same for every pixel, so a
// vector of pixels executes them together.
//
// The samples of each column are sorted first, once for all windows of 3 or 5 adjacent pixels that share it.
// The rest selects the median of 3 or 5 sorted columns.
//
// 3x3: the median of the greatest minimum, the middle median and the least maximum (Paeth, Median Finding on
// a 3x3 Grid, Graphics Gems, 1990). 5x5: columns first, then rows and diagonals, follows Kolte, Smith and Su
// (A Fast Median Filter Using AltiVec, ICCD 1999). Sharing sorted parts between neighbours follows Adams
// (Fast Median Filters Using Separable Sorting Networks, SIGGRAPH 2021). The list of 50 exchanges, 76 minima
// and maxima, was found by random changes that kept the median correct; Devillard's list for 25 unsorted
// samples has 99 exchanges (Fast Median Search, 1998).
//
// median_network_test proves both networks right for all inputs by the 0-1 principle (Knuth, TAOCP 3, 5.3.4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace imgpipe {

// Moves the lesser of two samples to position `low`, the other to `high`.
struct Exchange {
  std::uint8_t low, high;
};

// Radius 1 or 2: a window of 3x3 or 5x5. Sample r (by rank) of column k is at position r * kTaps + k.
template <int Radius>
struct MedianNetwork;

template <>
struct MedianNetwork<1> {
  static constexpr std::array<Exchange, 3> kColumn{{{0, 1}, {1, 2}, {0, 1}}};
  static constexpr std::array<Exchange, 10> kMiddle{
      {{0, 1}, {1, 2}, {6, 7}, {6, 8}, {3, 4}, {4, 5}, {3, 4}, {2, 4}, {4, 6}, {2, 4}}};
  static constexpr std::size_t kResult = 4;
};

template <>
struct MedianNetwork<2> {
  static constexpr std::array<Exchange, 9> kColumn{
      {{0, 1}, {3, 4}, {2, 4}, {2, 3}, {1, 4}, {0, 3}, {0, 2}, {1, 3}, {1, 2}}};
  static constexpr std::array<Exchange, 50> kMiddle{
      {{6, 8},   {16, 18}, {14, 11}, {15, 17}, {1, 0},   {10, 11}, {10, 12}, {4, 2},   {12, 13}, {2, 0},
       {7, 5},   {23, 20}, {14, 12}, {12, 0},  {1, 3},   {11, 22}, {3, 2},   {11, 20}, {5, 15},  {18, 15},
       {10, 12}, {5, 6},   {8, 16},  {7, 8},   {24, 13}, {8, 18},  {2, 14},  {21, 24}, {17, 16}, {4, 17},
       {8, 9},   {18, 19}, {17, 18}, {6, 9},   {11, 21}, {6, 17},  {11, 12}, {24, 23}, {12, 24}, {9, 18},
       {11, 14}, {0, 21},  {9, 14},  {0, 12},  {14, 24}, {9, 0},   {12, 14}, {12, 17}, {0, 12},  {12, 17}}};
  static constexpr std::size_t kResult = 12;
};

}  // namespace imgpipe
