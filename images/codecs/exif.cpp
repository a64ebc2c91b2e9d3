#include "images/codecs/exif.h"

#include <cstdint>
#include <utility>

namespace imgpipe {
namespace {

constexpr std::uint32_t kOrientationTag = 0x0112;
constexpr std::uint32_t kTypeShort = 3;
constexpr std::size_t kEntryBytes = 12;

class TiffBytes {
 public:
  TiffBytes(std::span<const std::byte> bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}

  // Reads the unsigned integer of `count` bytes at `offset`; returns false if it is out of bounds.
  bool read(std::size_t offset, std::size_t count, std::uint32_t& value) const {
    if (offset > bytes_.size() || bytes_.size() - offset < count) return false;
    value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = big_endian_ ? offset + i : offset + count - 1 - i;
      value = (value << 8) | std::to_integer<std::uint32_t>(bytes_[at]);
    }
    return true;
  }

 private:
  std::span<const std::byte> bytes_;
  bool big_endian_;
};

bool swaps_sides(Orientation orientation) {
  return static_cast<int>(orientation) >= static_cast<int>(Orientation::transpose);
}

template <class T>
void turn_pixels(Plane<const T, Host> stored, Plane<T, Host> upright, Orientation orientation) {
  // The stored position of upright pixel (0, 0), and the stored steps along x and y.
  const bool swap = swaps_sides(orientation);
  const bool from_right = orientation == Orientation::mirror_horizontal ||
                          orientation == Orientation::rotate_180 || orientation == Orientation::transverse ||
                          orientation == Orientation::rotate_270;
  const bool from_bottom = orientation == Orientation::rotate_180 ||
                           orientation == Orientation::mirror_vertical ||
                           orientation == Orientation::rotate_90 || orientation == Orientation::transverse;
  const std::int64_t along_row = from_right ? -stored.channels : stored.channels;
  const std::int64_t along_column = from_bottom ? -stored.stride : stored.stride;
  const T* origin = stored.data + (from_right ? (stored.width - 1) * stored.channels : 0) +
                    (from_bottom ? (stored.height - 1) * stored.stride : 0);
  const std::int64_t step_x = swap ? along_column : along_row;
  const std::int64_t step_y = swap ? along_row : along_column;
  for (std::int64_t y = 0; y < upright.height; ++y) {
    T* out = upright.row(y);
    for (std::int64_t x = 0; x < upright.width; ++x) {
      const T* in = origin + x * step_x + y * step_y;
      for (int c = 0; c < upright.channels; ++c) *out++ = in[c];
    }
  }
}

}  // namespace

Orientation exif_orientation(std::span<const std::byte> tiff) noexcept {
  if (tiff.size() < 8 || tiff[0] != tiff[1]) return Orientation::upright;
  if (tiff[0] != std::byte{'I'} && tiff[0] != std::byte{'M'}) return Orientation::upright;
  const TiffBytes bytes(tiff, tiff[0] == std::byte{'M'});
  std::uint32_t magic = 0;
  std::uint32_t directory = 0;
  std::uint32_t entries = 0;
  if (!bytes.read(2, 2, magic) || magic != 42 || !bytes.read(4, 4, directory) ||
      !bytes.read(directory, 2, entries)) {
    return Orientation::upright;
  }
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::size_t entry = std::size_t{directory} + 2 + i * kEntryBytes;
    std::uint32_t tag = 0;
    std::uint32_t type = 0;
    std::uint32_t count = 0;
    std::uint32_t value = 0;
    if (!bytes.read(entry, 2, tag) || !bytes.read(entry + 2, 2, type) || !bytes.read(entry + 4, 4, count) ||
        !bytes.read(entry + 8, 2, value)) {
      return Orientation::upright;
    }
    if (tag != kOrientationTag) continue;
    const bool valid = type == kTypeShort && count == 1 && value >= 1 && value <= 8;
    return valid ? static_cast<Orientation>(value) : Orientation::upright;
  }
  return Orientation::upright;
}

Shape oriented_shape(Shape stored, Orientation orientation) noexcept {
  if (swaps_sides(orientation)) std::swap(stored.width, stored.height);
  return stored;
}

void orient_pixels(ConstHostView stored, HostView upright, Orientation orientation) {
  visit_any_sample(stored.sample,
                   [&]<class T>(T) { turn_pixels(stored.as<T>(), upright.as<T>(), orientation); });
}

}  // namespace imgpipe
