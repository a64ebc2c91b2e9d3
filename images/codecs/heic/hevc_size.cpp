#include "images/codecs/heic/hevc_size.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "images/codecs/sniff.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

// The bits of a NAL unit without emulation prevention bytes (section 7.3.1.1). Bits after the end are 0.
class NalBits {
 public:
  // Parameter sets up to the size take fewer bytes.
  static constexpr std::size_t kMostBytes = 256;

  explicit NalBits(Bytes nal) {
    std::size_t zeros = 0;
    for (std::size_t i = 0; i < std::min(nal.size(), kMostBytes); ++i) {
      const bool is_prevention = zeros >= 2 && nal[i] == std::byte{3};
      zeros = nal[i] == std::byte{0} ? zeros + 1 : 0;
      if (!is_prevention) bytes_.push_back(nal[i]);
    }
  }

  void skip(std::size_t bits) { at_ += bits; }
  std::uint64_t next(int bits) {
    std::uint64_t value = 0;
    for (int i = 0; i < bits; ++i, ++at_) {
      const std::size_t byte = at_ / 8;
      value = value << 1 |
              (byte < bytes_.size() ? std::to_integer<std::uint64_t>(bytes_[byte]) >> (7 - at_ % 8) & 1 : 0);
    }
    return value;
  }
  // An Exp-Golomb code (section 9.2).
  std::uint64_t next_golomb() {
    int zeros = 0;
    while (zeros < 32 && next(1) == 0) ++zeros;
    return (std::uint64_t{1} << zeros) - 1 + next(zeros);
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
};

std::int64_t samples_of_parameter_set(Bytes nal) {
  constexpr std::size_t kProfileBits = 88, kLevelBits = 8;
  NalBits bits(nal);
  bits.skip(16 + 4);
  const std::uint64_t sub_layers = bits.next(3);
  bits.skip(1 + kProfileBits + kLevelBits);
  std::size_t sub_layer_bits = 0;
  for (std::uint64_t i = 0; i < sub_layers; ++i) {
    if (bits.next(1) != 0) sub_layer_bits += kProfileBits;
    if (bits.next(1) != 0) sub_layer_bits += kLevelBits;
  }
  if (sub_layers > 0) bits.skip(2 * (8 - sub_layers));
  bits.skip(sub_layer_bits);
  (void)bits.next_golomb();
  constexpr std::uint64_t kSeparatePlanes = 3;
  if (bits.next_golomb() == kSeparatePlanes) bits.skip(1);
  const std::uint64_t width = bits.next_golomb(), height = bits.next_golomb();
  constexpr std::uint64_t kMostSide = 1 << 30;
  if (width > kMostSide || height > kMostSide) return std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(width * height);
}

std::int64_t samples_of_nal(Bytes nal) {
  constexpr std::uint32_t kParameterSet = 33;
  return (big_endian(nal, 0, 1) >> 1 & 0x3F) == kParameterSet ? samples_of_parameter_set(nal) : 0;
}

// Arrays of NAL units of one type each (ISO/IEC 14496-15, section 8.3.3.1.2).
std::int64_t samples_of_configuration(Bytes configuration) {
  std::int64_t most = 0;
  BoxNumbers numbers(configuration);
  numbers.skip(22);
  for (std::uint64_t arrays = numbers.next(1); arrays > 0 && !numbers.done(); --arrays) {
    numbers.skip(1);
    for (std::uint64_t count = numbers.next(2); count > 0 && !numbers.done(); --count) {
      const auto length = static_cast<std::size_t>(numbers.next(2));
      most = std::max(most, samples_of_nal(numbers.rest().first(std::min(length, numbers.rest().size()))));
      numbers.skip(length);
    }
  }
  return most;
}

// NAL units, each after its length in four bytes, as libheif's decoder reads them.
std::int64_t samples_of_data(Bytes data) {
  std::int64_t most = 0;
  BoxNumbers numbers(data);
  while (!numbers.done()) {
    const auto length = static_cast<std::size_t>(numbers.next(4));
    most = std::max(most, samples_of_nal(numbers.rest().first(std::min(length, numbers.rest().size()))));
    numbers.skip(length);
  }
  return most;
}

}  // namespace

std::int64_t most_hevc_samples(const HeifItems& items) {
  std::int64_t most = 0;
  for (const auto& [id, item] : items.all()) {
    for (const Box& property : item.properties) {
      if (property.type == "hvcC"sv) most = std::max(most, samples_of_configuration(property.payload));
    }
    if (item.type != "hvc1"sv) continue;
    if (item.data.size() == 1) {
      most = std::max(most, samples_of_data(item.data.front()));
      continue;
    }
    std::vector<std::byte> joined;
    for (const Bytes part : item.data) joined.insert(joined.end(), part.begin(), part.end());
    most = std::max(most, samples_of_data(joined));
  }
  return most;
}

}  // namespace imgpipe
