#include "tests/support/baseline_reference.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "images/codecs/jpeg/jpeg_arithmetic.h"
#include "images/codecs/jpeg/jpeg_segments.h"

namespace imgpipe {
namespace {

constexpr unsigned kMarkerPrefix = 0xFF;
constexpr int kRestarts = 8;  // restart markers are numbered modulo this

// ---- bits and codes (T.81, F.2.2) -------------------------------------------------------------------

class Bits {
 public:
  explicit Bits(std::span<const std::byte> data) : data_(data) {}

  // Returns the next bit (NEXTBIT), or nothing at a marker or the end of the file.
  std::optional<int> next() {
    if (left_ == 0) {
      if (at_ >= data_.size()) return std::nullopt;
      if (byte(at_) == kMarkerPrefix) {
        // A zero byte is stuffed after a data byte of 0xFF.
        if (at_ + 1 >= data_.size() || byte(at_ + 1) != 0) return std::nullopt;
        current_ = kMarkerPrefix;
        at_ += 2;
      } else {
        current_ = byte(at_++);
      }
      left_ = 8;
    }
    --left_;
    return static_cast<int>(current_ >> left_ & 1);
  }

  // Returns the next `count` bits as a number, the first bit highest (RECEIVE).
  std::optional<int> receive(int count) {
    int value = 0;
    for (int i = 0; i < count; ++i) {
      const std::optional<int> bit = next();
      if (!bit) return std::nullopt;
      value = value * 2 + *bit;
    }
    return value;
  }

  // Skips to the next byte and past the expected marker, after any number of 0xFF (T.81, B.1.1.2).
  bool take_marker(unsigned code) {
    left_ = 0;
    if (at_ >= data_.size() || byte(at_) != kMarkerPrefix) return false;
    while (at_ < data_.size() && byte(at_) == kMarkerPrefix) ++at_;
    return at_ < data_.size() && byte(at_++) == code;
  }

 private:
  [[nodiscard]] unsigned byte(std::size_t i) const { return std::to_integer<unsigned>(data_[i]); }

  std::span<const std::byte> data_;
  std::size_t at_ = 0;    // the next byte
  unsigned current_ = 0;  // the byte with the next bits, in its lower bits
  int left_ = 0;          // number of bits left in it
};

// Returns the next symbol (DECODE). Codes of one length are consecutive; the first is the one after the last
// of the previous length, with a zero appended (T.81, C.2).
std::optional<int> next_symbol(Bits& bits, const HuffmanCodes& codes) {
  int code = 0;
  int first = 0;
  std::size_t symbol_of_first = 0;
  for (std::size_t length = 1; length < codes.counts.size(); ++length) {
    const std::optional<int> bit = bits.next();
    if (!bit) return std::nullopt;
    code = code * 2 + *bit;
    const int position = code - first;
    if (position < codes.counts[length]) {
      const std::size_t symbol = symbol_of_first + static_cast<std::size_t>(position);
      if (symbol >= codes.symbols.size()) return std::nullopt;
      return codes.symbols[symbol];
    }
    first = (first + codes.counts[length]) * 2;
    symbol_of_first += codes.counts[length];
  }
  return std::nullopt;
}

// Returns a number of `size` bits; the lower half represents negative numbers (EXTEND).
std::optional<int> next_number(Bits& bits, int size) {
  const std::optional<int> value = bits.receive(size);
  if (!value || size == 0) return value;
  return *value < 1 << (size - 1) ? *value - (1 << size) + 1 : *value;
}

// ---- blocks -----------------------------------------------------------------------------------------

constexpr int kMaxBits = 15;  // of a DC difference or an AC coefficient

// In zigzag order.
using Block = std::array<std::int16_t, kBlockSamples>;

// Reads the AC coefficients of a block; false if the data is invalid.
bool read_ac(Bits& bits, const HuffmanCodes& codes, Block& block) {
  for (std::size_t position = 1; position < kBlockSamples; ++position) {
    const std::optional<int> symbol = next_symbol(bits, codes);
    if (!symbol) return false;
    const int zeros = *symbol >> 4;
    const int size = *symbol & 15;
    if (size == 0 && zeros != 15) return true;  // end of block
    position += static_cast<std::size_t>(zeros);
    if (size == 0) {
      // 16 zeros must precede a coefficient.
      if (position + 1 >= kBlockSamples) return false;
      continue;
    }
    if (position >= kBlockSamples) return false;
    const std::optional<int> value = next_number(bits, size);
    if (!value) return false;
    block[position] = static_cast<std::int16_t>(*value);
  }
  return true;
}

// Reads a block; `dc` is the component's previous DC coefficient, and becomes this block's.
bool read_block(Bits& bits, const BaselineScan& scan, const ScanComponent& component, std::int64_t& dc,
                Block& block) {
  const auto codes = static_cast<std::size_t>(component.dc_codes);
  const std::optional<int> size = next_symbol(bits, scan.dc_codes[codes]);
  if (!size || *size > kMaxBits) return false;
  const std::optional<int> difference = next_number(bits, *size);
  if (!difference) return false;
  dc += *difference;
  if (dc < INT32_MIN || dc > INT32_MAX) return false;
  block[0] = wrapped_16(static_cast<std::int32_t>(dc));
  return read_ac(bits, scan.ac_codes[static_cast<std::size_t>(component.ac_codes)], block);
}

// `block` is in row order.
std::array<std::uint8_t, kBlockSamples> samples_of(std::span<const std::int16_t> block,
                                                   const ScanComponent& component) {
  std::array<std::int16_t, kBlockSamples> values{};
  for (std::size_t i = 0; i < kBlockSamples; ++i)
    values[kZigzag[i]] = dequantised(block[kZigzag[i]], component.steps[i]);
  const auto below = block.subspan(kBlockSide);
  return inverse_dct(values, std::ranges::all_of(below, [](std::int16_t v) { return v == 0; }));
}

// ---- planes -----------------------------------------------------------------------------------------

// The samples of a component, in whole MCUs.
class Samples {
 public:
  Samples(const BaselineScan& scan, const ScanComponent& component)
      : width_(component.width),
        height_(component.height),
        stride_(scan.mcus_across * component.across * kBlockSide),
        samples_(static_cast<std::size_t>(stride_ * scan.mcu_rows * component.down * kBlockSide)) {}

  // Returns the sample nearest to (x, y) among those that represent pixels.
  [[nodiscard]] int at(std::int64_t x, std::int64_t y) const {
    x = std::clamp<std::int64_t>(x, 0, width_ - 1);
    y = std::clamp<std::int64_t>(y, 0, height_ - 1);
    return samples_[static_cast<std::size_t>(y * stride_ + x)];
  }
  void set_block(std::int64_t across, std::int64_t down,
                 const std::array<std::uint8_t, kBlockSamples>& block) {
    for (std::int64_t y = 0; y < kBlockSide; ++y) {
      std::copy_n(block.begin() + y * kBlockSide, kBlockSide,
                  samples_.begin() + (down * kBlockSide + y) * stride_ + across * kBlockSide);
    }
  }
  [[nodiscard]] std::int64_t width() const { return width_; }

 private:
  std::int64_t width_, height_, stride_;
  std::vector<std::uint8_t> samples_;
};

// Appends the blocks of an MCU, in row order.
bool read_mcu(Bits& bits, const BaselineScan& scan, std::array<std::int64_t, 3>& dc,
              std::vector<std::int16_t>& coefficients) {
  for (std::size_t c = 0; c < static_cast<std::size_t>(scan.components); ++c) {
    const ScanComponent& component = scan.component[c];
    for (int i = 0; i < component.down * component.across; ++i) {
      Block block{};
      if (!read_block(bits, scan, component, dc[c], block)) return false;
      const std::size_t begin = coefficients.size();
      coefficients.resize(begin + kBlockSamples);
      for (std::size_t k = 0; k < kBlockSamples; ++k) coefficients[begin + kZigzag[k]] = block[k];
    }
  }
  return true;
}

std::vector<Samples> make_planes(const BaselineScan& scan, std::span<const std::int16_t> coefficients) {
  std::vector<Samples> planes;
  planes.reserve(static_cast<std::size_t>(scan.components));
  for (int c = 0; c < scan.components; ++c)
    planes.emplace_back(scan, scan.component[static_cast<std::size_t>(c)]);
  for (std::int64_t mcu = 0; mcu < scan.mcus(); ++mcu) {
    for (std::size_t c = 0; c < planes.size(); ++c) {
      const ScanComponent& component = scan.component[c];
      for (std::int64_t i = 0; i < std::int64_t{component.down} * component.across; ++i) {
        planes[c].set_block(mcu % scan.mcus_across * component.across + i % component.across,
                            mcu / scan.mcus_across * component.down + i / component.across,
                            samples_of(coefficients.first(kBlockSamples), component));
        coefficients = coefficients.subspan(kBlockSamples);
      }
    }
  }
  return planes;
}

// ---- pixels -----------------------------------------------------------------------------------------

// Returns the sample of a colour plane for pixel (x, y).
int colour_at(const Samples& plane, Sampling sampling, std::int64_t x, std::int64_t y) {
  const std::int64_t column = x / 2;
  const std::int64_t row = y / 2;
  const std::int64_t far = y % 2 == 0 ? row - 1 : row + 1;
  const bool left = x % 2 == 0;
  const bool repeated = plane.width() <= kMaxRepeatedWidth;
  const auto sum = [&](std::int64_t at) { return column_sum(plane.at(at, row), plane.at(at, far)); };
  switch (sampling) {
    case Sampling::s422:
      if (repeated) return plane.at(column, y);
      return left ? upsampled_left(plane.at(column - 1, y), plane.at(column, y))
                  : upsampled_right(plane.at(column, y), plane.at(column + 1, y));
    case Sampling::s420:
      if (repeated) return plane.at(column, row);
      return left ? upsampled_left_of_sums(sum(column - 1), sum(column))
                  : upsampled_right_of_sums(sum(column), sum(column + 1));
    case Sampling::s440:
      return y % 2 == 0 ? upsampled_upper(plane.at(x, far), plane.at(x, row))
                        : upsampled_lower(plane.at(x, row), plane.at(x, far));
    case Sampling::s444:
    case Sampling::grey:
      break;
  }
  return plane.at(x, y);
}

void write_pixels(const BaselineScan& scan, const std::vector<Samples>& planes, HostPlane image) {
  for (std::int64_t y = 0; y < image.height; ++y) {
    Sample8* pixel = image.row(y);
    for (std::int64_t x = 0; x < image.width; ++x, pixel += image.channels) {
      const int luma = planes[0].at(x, y);
      if (planes.size() == 1) {
        *pixel = static_cast<Sample8>(luma);
        continue;
      }
      const int cb = colour_at(planes[1], scan.sampling, x, y);
      const int cr = colour_at(planes[2], scan.sampling, x, y);
      pixel[0] = red_of(luma, cr);
      pixel[1] = green_of(luma, cb, cr);
      pixel[2] = blue_of(luma, cb);
    }
  }
}

}  // namespace

std::optional<std::vector<std::int16_t>> read_coefficients_reference(const BaselineScan& scan) {
  Bits bits(scan.data);
  std::vector<std::int16_t> coefficients;
  std::array<std::int64_t, 3> dc{};
  for (std::int64_t mcu = 0; mcu < scan.mcus(); ++mcu) {
    if (scan.restart_interval > 0 && mcu > 0 && mcu % scan.restart_interval == 0) {
      const std::int64_t restart = (mcu / scan.restart_interval - 1) % kRestarts;
      if (!bits.take_marker(kFirstRestart + static_cast<unsigned>(restart))) return std::nullopt;
      dc = {};
    }
    if (!read_mcu(bits, scan, dc, coefficients)) return std::nullopt;
  }
  if (!bits.take_marker(kEndOfImage)) return std::nullopt;
  return coefficients;
}

Image reconstruct_reference(const BaselineScan& scan, std::span<const std::int16_t> coefficients) {
  Image image({scan.width, scan.height, scan.components});
  write_pixels(scan, make_planes(scan, coefficients), image.view());
  return image;
}

std::optional<Image> decode_baseline_reference(const BaselineScan& scan) {
  const auto coefficients = read_coefficients_reference(scan);
  if (!coefficients) return std::nullopt;
  return reconstruct_reference(scan, *coefficients);
}

}  // namespace imgpipe
