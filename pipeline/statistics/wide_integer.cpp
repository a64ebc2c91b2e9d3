#include "pipeline/statistics/wide_integer.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace imgpipe {

void WideInteger::add_shifted(Uint128 value, int shift) {
  const auto first = static_cast<std::size_t>(shift / 64);
  const int bits = shift % 64;
  const std::array<std::uint64_t, 3> parts{static_cast<std::uint64_t>(value << bits),
                                           static_cast<std::uint64_t>(value >> (64 - bits)),
                                           bits == 0 ? 0 : static_cast<std::uint64_t>(value >> (128 - bits))};
  Uint128 carry = 0;
  for (std::size_t i = first; i < kWords && (i < first + parts.size() || carry > 0); ++i) {
    carry += words_[i];
    if (i < first + parts.size()) carry += parts[i - first];
    words_[i] = static_cast<std::uint64_t>(carry);
    carry >>= 64;
  }
}

void WideInteger::subtract(const WideInteger& smaller) {
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < kWords; ++i) {
    const Uint128 taken = Uint128{smaller.words_[i]} + borrow;
    borrow = taken > words_[i] ? 1 : 0;
    words_[i] -= static_cast<std::uint64_t>(taken);
  }
}

WideInteger WideInteger::operator*(const WideInteger& other) const {
  WideInteger product;
  for (std::size_t i = 0; i < kWords; ++i) {
    for (std::size_t j = 0; words_[i] != 0 && i + j < kWords; ++j)
      product.add_shifted(Uint128{words_[i]} * other.words_[j], static_cast<int>(64 * (i + j)));
  }
  return product;
}

bool WideInteger::operator<(const WideInteger& other) const {
  return std::lexicographical_compare(words_.rbegin(), words_.rend(), other.words_.rbegin(),
                                      other.words_.rend());
}

double WideInteger::scaled(int exponent) const {
  const auto top = std::ranges::find_if(words_.rbegin(), words_.rend(), [](auto word) { return word != 0; });
  if (top == words_.rend()) return 0;
  const auto index = static_cast<std::size_t>(words_.rend() - top) - 1;
  // The upper 64 bits; the last one also records whether any lower bit is set.
  const int zeros = std::countl_zero(*top);
  const std::uint64_t below = index > 0 ? words_[index - 1] : 0;
  std::uint64_t upper = *top << zeros | (zeros > 0 ? below >> (64 - zeros) : 0);
  bool rest = (below << zeros) != 0;
  for (std::size_t i = 0; i + 1 < index; ++i) rest = rest || words_[i] != 0;
  upper |= rest ? 1 : 0;
  return std::ldexp(static_cast<double>(upper), static_cast<int>(64 * index) - zeros + exponent);
}

}  // namespace imgpipe
