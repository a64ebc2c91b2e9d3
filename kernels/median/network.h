// Medians of squares of samples by exchanges: no branches, the same steps for every pixel, so a vector of
// pixels takes them together.
//
// First the samples of each column are sorted; the windows of 3 or 5 neighbouring pixels share a column, so
// this is done once a column. What is left is the choice of the middle one of 3 or 5 sorted columns.
//
// 3x3: the middle one of the greatest minimum, the middle median and the least maximum (Paeth, Median Finding
// on a 3x3 Grid, Graphics Gems, 1990). 5x5: columns first, then rows and diagonals, is the way of Kolte,
// Smith and Su (A Fast Median Filter Using AltiVec, ICCD 1999), and sharing sorted parts between neighbours
// that of Adams (Fast Median Filters Using Separable Sorting Networks, SIGGRAPH 2021). The list of 50
// exchanges here, 76 minima and maxima, was found for this program by random changes, each kept where the
// median stayed right; Devillard's list for 25 unsorted samples has 99 exchanges (Fast Median Search, 1998).
//
// That they are right for every input there is, median_network_test proves by the 0-1 principle (Knuth, The
// Art of Computer Programming 3, 5.3.4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace imgpipe {

// Of two samples the lesser one goes to place `low`, the other to `high`.
struct Exchange {
  std::uint8_t low, high;
};

// Radius 1 or 2: a window of 3x3 or 5x5. Sample r (by size) of column k has place r * kTaps + k.
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
