#include "pipeline/pixel_difference.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>

namespace imgpipe {

double WideSum::value() const {
  return std::ldexp(static_cast<double>(high), 64) + static_cast<double>(low);
}

namespace {

template <class T>
bool has_equal_bits(const T& a, const T& b) {
  using Bytes = std::array<std::byte, sizeof(T)>;
  return std::bit_cast<Bytes>(a) == std::bit_cast<Bytes>(b);
}

}  // namespace

template <class T>
void PixelComparison::add_row(const T* a, const T* b) {
  const auto channels = static_cast<std::int64_t>(shape_.channels);
  for (std::int64_t x = 0; x < shape_.width; ++x) {
    bool differs = false;
    for (std::int64_t c = 0; c < channels; ++c) {
      const T in_a = a[x * channels + c], in_b = b[x * channels + c];
      if (has_equal_bits(in_a, in_b)) continue;
      differs = true;
      const auto value_a = static_cast<double>(in_a), value_b = static_cast<double>(in_b);
      if (!difference_.first) difference_.first = {x, rows_, static_cast<int>(c), value_a, value_b};
      const double difference = std::abs(value_a - value_b);
      if (std::isnan(difference)) {
        ++difference_.not_numbers;
        continue;
      }
      difference_.largest = std::max(difference_.largest, difference);
      if constexpr (kIsFloat<T>) {
        float_squares_ += difference * difference;
      } else {
        const auto whole = static_cast<std::uint64_t>(difference);
        squares_.add(whole * whole);
      }
    }
    difference_.pixels += differs ? 1 : 0;
  }
}

void PixelComparison::add(ConstHostView a, ConstHostView b) {
  const auto bytes = static_cast<std::size_t>(shape_.row_bytes());
  for (std::int64_t y = 0; y < a.height; ++y, ++rows_) {
    if (std::memcmp(a.row(y), b.row(y), bytes) == 0) continue;
    visit_any_sample(shape_.sample, [&]<class T>(T) { add_row(a.as<T>().row(y), b.as<T>().row(y)); });
  }
}

PixelDifference PixelComparison::result() const {
  PixelDifference result = difference_;
  const bool is_float = imgpipe::is_float(shape_.sample);
  const double squares = is_float ? float_squares_ : squares_.value();
  const double peak = is_float ? 1 : max_sample(shape_.sample);
  if (squares > 0 && std::isfinite(squares) && result.not_numbers == 0)
    result.psnr_db = 10 * std::log10(peak * peak * static_cast<double>(shape_.samples()) / squares);
  return result;
}

}  // namespace imgpipe
