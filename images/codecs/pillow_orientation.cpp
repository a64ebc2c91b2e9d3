#include "images/codecs/pillow_orientation.h"

#include <array>
#include <bit>
#include <bitset>
#include <cstdint>
#include <string_view>

#include "images/codecs/sniff.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;
using Bytes = std::span<const std::byte>;

// Bytes per value, by TIFF type; 0: Pillow skips fields of this type.
constexpr std::array<std::size_t, 17> kUnitBytes{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8};

Orientation orientation_of(double value) {
  for (int known = 1; known <= 8; ++known) {
    if (value == known) return static_cast<Orientation>(known);
  }
  return Orientation::upright;
}

class Block {
 public:
  Block(Bytes bytes, bool is_big) : bytes_(bytes), is_big_(is_big) {}

  [[nodiscard]] std::uint32_t number(std::size_t at, std::size_t count) const {
    return is_big_ ? big_endian(bytes_, at, count) : little_endian(bytes_, at, count);
  }
  [[nodiscard]] std::uint64_t number_64(std::size_t at) const {
    const std::uint64_t first = number(at, 4), second = number(at + 4, 4);
    return is_big_ ? first << 32 | second : second << 32 | first;
  }

  // The first value of a field; bytes and texts are not numbers.
  [[nodiscard]] double value(std::size_t at, std::uint32_t type) const {
    switch (type) {
      case 3:
        return number(at, 2);
      case 4:
      case 13:
        return number(at, 4);
      case 5:
        return 1.0 * number(at, 4) / number(at + 4, 4);
      case 6:
        return static_cast<std::int8_t>(number(at, 1));
      case 8:
        return static_cast<std::int16_t>(number(at, 2));
      case 9:
        return static_cast<std::int32_t>(number(at, 4));
      case 10:
        return 1.0 * static_cast<std::int32_t>(number(at, 4)) / static_cast<std::int32_t>(number(at + 4, 4));
      case 11:
        return std::bit_cast<float>(number(at, 4));
      case 12:
        return std::bit_cast<double>(number_64(at));
      case 16:
        return static_cast<double>(number_64(at));
      default:
        return 0;
    }
  }

 private:
  Bytes bytes_;
  bool is_big_;
};

}  // namespace

std::optional<Orientation> pillow_exif_orientation(std::span<const std::byte> block) {
  constexpr std::uint32_t kOrientation = 0x0112;
  for (int i = 0; i < 2 && matches_at(block, 0, "Exif\0\0"sv); ++i) block = block.subspan(6);
  if (block.empty()) return std::nullopt;
  bool is_big = false, is_known = false;
  for (const std::string_view start :
       {"II\x2A\0"sv, "II\0\x2A"sv, "MM\0\x2A"sv, "MM\x2A\0"sv, "MM\0\x2B"sv}) {
    if (!matches_at(block, 0, start)) continue;
    is_known = true;
    is_big = start[0] == 'M';
  }
  if (!is_known || block.size() < 8) return Orientation::upright;  // Pillow raises an error
  const Block tiff(block, is_big);
  const std::size_t directory = tiff.number(4, 4);
  const std::size_t count = tiff.number(directory, 2);
  std::bitset<65'536> stored;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = directory + 2 + 12 * i;
    if (at + 12 > block.size()) return std::nullopt;
    const std::uint32_t tag = tiff.number(at, 2), type = tiff.number(at + 2, 2);
    const std::uint64_t size =
        type < kUnitBytes.size() ? std::uint64_t{tiff.number(at + 4, 4)} * kUnitBytes[type] : 0;
    if (stored[tag] || size == 0) continue;
    std::size_t data = at + 8;
    if (size > 4) {
      data = tiff.number(at + 8, 4);
      total += size;
      if (total > block.size()) continue;
      if (data > block.size() || block.size() - data < size) return std::nullopt;
    }
    if (tag == kOrientation) return orientation_of(tiff.value(data, type));
    stored[tag] = true;
  }
  return std::nullopt;
}

Orientation pillow_xmp_orientation(std::span<const std::byte> packet) {
  const std::string_view text(reinterpret_cast<const char*>(packet.data()), packet.size());
  constexpr std::string_view kName = "tiff:Orientation";
  for (std::size_t at = text.find(kName); at != std::string_view::npos; at = text.find(kName, at + 1)) {
    std::string_view rest = text.substr(at + kName.size());
    const std::size_t sign = rest.starts_with("=\"") ? 2 : rest.starts_with('>') ? 1 : 0;
    if (sign == 0 || rest.size() <= sign || rest[sign] < '0' || rest[sign] > '9') continue;
    return orientation_of(rest[sign] - '0');
  }
  return Orientation::upright;
}

}  // namespace imgpipe
