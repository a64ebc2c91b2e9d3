// The differences between two images of the same shape, exact for integers.
#pragma once

#include <cstdint>
#include <optional>

#include "images/plane.h"

namespace imgpipe {

struct PixelDifference {
  struct Sample {
    std::int64_t x = 0, y = 0;
    int channel = 0;  // from 0
    double a = 0, b = 0;
  };
  std::int64_t pixels = 0;  // that differ in any channel
  double largest = 0;       // absolute difference of samples; infinite between an infinity and another number
  std::int64_t not_numbers = 0;   // different samples of which one or both are NaN; not in `largest`
  std::optional<Sample> first{};  // in the order of rows, columns and channels
  // Peak signal-to-noise ratio in dB over the samples of all channels, 10·log10(peak²/MSE), the peak being
  // 255, 65535 or, for floats, 1. nullopt: infinite, as no sample has another value, or undefined (NaN,
  // infinity).
  std::optional<double> psnr_db{};

  [[nodiscard]] bool is_equal() const { return pixels == 0; }
};

// A sum of integers in 128 bits.
struct WideSum {
  std::uint64_t low = 0, high = 0;

  void add(std::uint64_t value) {
    low += value;
    high += low < value ? 1 : 0;
  }
  [[nodiscard]] double value() const;
};

// Compares images row by row. Samples are equal if their bits are: -0 differs from 0, a NaN from other NaNs.
class PixelComparison {
 public:
  // For 8-bit, 16-bit and float samples.
  explicit PixelComparison(const Shape& shape) : shape_(shape) {}

  // Takes the next rows of both images.
  void add(ConstHostView a, ConstHostView b);
  [[nodiscard]] PixelDifference result() const;  // after the last row

 private:
  template <class T>
  void add_row(const T* a, const T* b);

  const Shape shape_;
  std::int64_t rows_ = 0;
  PixelDifference difference_;
  WideSum squares_;  // of integers
  double float_squares_ = 0;
};

}  // namespace imgpipe
