#include "images/codecs/webp/lossless_codes.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "images/error.h"

namespace imgpipe {
namespace {

constexpr int kLiterals = 256, kLengths = 24, kDistances = 40;
constexpr std::size_t kGreen = 0, kRed = 1, kBlue = 2, kAlpha = 3, kDistance = 4, kCodes = 5;

void require(bool condition) {
  if (!condition) throw Error(ErrorKind::input, "WebP: the image data is damaged");
}

// Reads the lowest bit of a byte first.
class BitReader {
 public:
  explicit BitReader(Bytes bytes) : bytes_(bytes) {}

  unsigned read(int count) {
    require(static_cast<std::size_t>(count) <= 8 * bytes_.size() - at_);
    unsigned value = 0;
    for (int i = 0; i < count; ++i, ++at_)
      value |= (std::to_integer<unsigned>(bytes_[at_ / 8]) >> at_ % 8 & 1U) << i;
    return value;
  }

 private:
  Bytes bytes_;
  std::size_t at_ = 0;
};

// A canonical code. Lengths are 0 (no such symbol) to 15. A single symbol takes no bits.
class PrefixCode {
 public:
  void build(std::span<const std::uint8_t> lengths) {
    count_.fill(0);
    for (const std::uint8_t length : lengths) ++count_[length];
    count_[0] = 0;
    std::array<unsigned, kMost + 2> first{};
    for (std::size_t length = 1; length <= kMost; ++length)
      first[length + 1] = first[length] + count_[length];
    symbols_.resize(first[kMost + 1]);
    for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol)
      if (lengths[symbol] != 0) symbols_[first[lengths[symbol]]++] = static_cast<std::uint16_t>(symbol);
    require(symbols_.size() == 1 || is_full());
  }

  [[nodiscard]] bool takes_bits() const { return symbols_.size() > 1; }

  unsigned read(BitReader& bits) const {
    if (!takes_bits()) return symbols_[0];
    unsigned code = 0, first = 0, index = 0;
    for (std::size_t length = 1; length <= kMost; ++length) {
      code |= bits.read(1);
      if (code - first < count_[length]) return symbols_[index + code - first];
      index += count_[length];
      first = (first + count_[length]) << 1;
      code <<= 1;
    }
    require(false);
    return 0;
  }

 private:
  static constexpr std::size_t kMost = 15;

  [[nodiscard]] bool is_full() const {
    unsigned used = 0;
    for (std::size_t length = 1; length <= kMost; ++length) used += count_[length] << (kMost - length);
    return used == 1U << kMost;
  }

  std::array<unsigned, kMost + 1> count_{};
  std::vector<std::uint16_t> symbols_;
};

// The group numbers in an entropy image: red and green of each pixel.
class GroupNumbers {
 public:
  void add(unsigned number) {
    distinct_ += held_[number] ? 0 : 1;
    held_[number] = true;
    max_ = std::max(max_, number);
  }
  [[nodiscard]] std::int64_t distinct() const { return distinct_; }
  [[nodiscard]] std::int64_t most() const { return max_; }

 private:
  std::vector<bool> held_ = std::vector<bool>(std::size_t{1} << 16);
  std::int64_t distinct_ = 0;
  unsigned max_ = 0;
};

constexpr std::int64_t blocks_along(std::int64_t pixels, unsigned bits) {
  return (pixels + (std::int64_t{1} << bits) - 1) >> bits;
}

class StreamReader {
 public:
  explicit StreamReader(Bytes stream) : bits_(stream) {}

  LosslessCodes read(std::int64_t width, std::int64_t height) {
    for (unsigned seen = 0; bits_.read(1) != 0;) {
      const unsigned type = bits_.read(2);
      require((seen >> type & 1) == 0);
      seen |= 1U << type;
      width = skip_transform(type, width, height);
    }
    codes_.cache_bits = read_cache_bits();
    if (bits_.read(1) != 0) read_groups(width, height);
    return codes_;
  }

 private:
  // Returns the width that is coded after the transform.
  std::int64_t skip_transform(unsigned type, std::int64_t width, std::int64_t height) {
    constexpr unsigned kSubtractGreen = 2, kColorIndexing = 3;
    if (type == kSubtractGreen) return width;
    if (type == kColorIndexing) {
      const unsigned colors = bits_.read(8) + 1;
      skip_image(colors, nullptr);
      return blocks_along(width, colors > 16 ? 0 : colors > 4 ? 1 : colors > 2 ? 2 : 3);
    }
    const unsigned bits = bits_.read(3) + 2;
    skip_image(blocks_along(width, bits) * blocks_along(height, bits), nullptr);
    return width;
  }

  // Counts the groups as libwebp keeps them: all up to the highest number or, if these are many, only those
  // that blocks use.
  void read_groups(std::int64_t width, std::int64_t height) {
    constexpr std::int64_t kMany = 1000;
    const unsigned bits = bits_.read(3) + 2;
    GroupNumbers numbers;
    skip_image(blocks_along(width, bits) * blocks_along(height, bits), &numbers);
    codes_.named = numbers.most() + 1;
    codes_.groups = codes_.named > std::min(kMany, width * height) ? numbers.distinct() : codes_.named;
  }

  int read_cache_bits() {
    if (bits_.read(1) == 0) return 0;
    const unsigned bits = bits_.read(4);
    require(bits >= 1 && bits <= 11);
    return static_cast<int>(bits);
  }

  // Section 3.7.2.1. A simple code of two symbols may contain one past the alphabet's end, such as a distance
  // symbol of 40 or more. libwebp ignores that symbol; the other one is then the only symbol.
  void read_code(PrefixCode& code, std::size_t symbols) {
    std::vector<std::uint8_t> lengths(symbols);
    if (bits_.read(1) != 0) {
      const unsigned more = bits_.read(1);
      const int bits = bits_.read(1) == 0 ? 1 : 8;
      for (const int width : {bits, 8}) {
        const unsigned symbol = bits_.read(width);
        if (symbol < symbols) lengths[symbol] = 1;
        if (more == 0) break;
      }
    } else {
      read_lengths(lengths);
    }
    code.build(lengths);
  }

  void read_lengths(std::vector<std::uint8_t>& lengths) {
    constexpr std::array<std::uint8_t, 19> kOrder{17, 18, 0, 1,  2,  3,  4,  5,  16, 6,
                                                  7,  8,  9, 10, 11, 12, 13, 14, 15};
    constexpr std::array<int, 3> kRepeatBits{2, 3, 7};
    constexpr std::array<unsigned, 3> kRepeats{3, 3, 11};
    std::array<std::uint8_t, kOrder.size()> of_lengths{};
    const std::size_t given = bits_.read(4) + 4;
    require(given <= kOrder.size());
    for (std::size_t i = 0; i < given; ++i) of_lengths[kOrder[i]] = static_cast<std::uint8_t>(bits_.read(3));
    PrefixCode code;
    code.build(of_lengths);
    std::size_t left = lengths.size();
    if (bits_.read(1) != 0) {
      left = 2 + bits_.read(static_cast<int>(2 + 2 * bits_.read(3)));
      require(left <= lengths.size());
    }
    std::uint8_t before = 8;
    for (std::size_t at = 0; at < lengths.size() && left > 0; --left) {
      const unsigned symbol = code.read(bits_);
      if (symbol < 16) {
        lengths[at++] = static_cast<std::uint8_t>(symbol);
        if (symbol != 0) before = static_cast<std::uint8_t>(symbol);
        continue;
      }
      const std::size_t repeats = kRepeats[symbol - 16] + bits_.read(kRepeatBits[symbol - 16]);
      require(repeats <= lengths.size() - at);
      std::fill_n(lengths.begin() + static_cast<std::ptrdiff_t>(at), repeats,
                  symbol == 16 ? before : std::uint8_t{0});
      at += repeats;
    }
  }

  // Returns a length or a distance (section 3.6.2.2) from its symbol.
  std::int64_t read_number(unsigned symbol) {
    if (symbol < 4) return symbol + 1;
    const int bits = static_cast<int>(symbol - 2) >> 1;
    return (std::int64_t{2 + (symbol & 1)} << bits) + bits_.read(bits) + 1;
  }

  // Decodes an image up to its end. Adds the image's literals to `numbers`, and 0, the initial content of the
  // cache.
  void skip_image(std::int64_t pixels, GroupNumbers* numbers) {
    const int cache_bits = read_cache_bits();
    const int greens = kLiterals + kLengths + (cache_bits == 0 ? 0 : 1 << cache_bits);
    std::array<PrefixCode, kCodes> codes;
    for (std::size_t i = 0; i < kCodes; ++i)
      read_code(codes[i], static_cast<std::size_t>(i == kGreen      ? greens
                                                   : i == kDistance ? kDistances
                                                                    : kLiterals));
    codes_.block_count += pixels;
    const bool takes_bits = std::ranges::any_of(codes, &PrefixCode::takes_bits);
    for (std::int64_t at = 0; at < pixels;) {
      const unsigned green = codes[kGreen].read(bits_);
      if (green >= kLiterals && green < kLiterals + kLengths) {
        at += read_number(green - kLiterals);
        (void)read_number(codes[kDistance].read(bits_));
        require(at <= pixels);
        continue;
      }
      const bool literal = green < kLiterals;
      const unsigned red = literal ? codes[kRed].read(bits_) : 0;
      if (literal) (void)codes[kBlue].read(bits_), (void)codes[kAlpha].read(bits_);
      if (numbers != nullptr) numbers->add(literal ? red << 8 | green : 0);
      if (!takes_bits) return;  // the whole image has one colour
      ++at;
    }
  }

  BitReader bits_;
  LosslessCodes codes_;
};

}  // namespace

std::optional<LosslessCodes> read_lossless_codes(Bytes stream, std::int64_t width, std::int64_t height) {
  try {
    return StreamReader(stream).read(width, height);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace imgpipe
