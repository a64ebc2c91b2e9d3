// Builds the front of a TIFF: header, directory and the values after it (TIFF 6.0, section 2; BigTIFF).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "images/codecs/tiff/tiff_directory.h"

namespace imgpipe {

// Fields must be added in ascending order; all numbers are in the host's byte order, like the pixels.
class TiffFields {
 public:
  // `position`: offset of the directory after another page's image; 0: at the file's start, after a header.
  explicit TiffFields(bool big, std::uint64_t position = 0) : big_(big), place_(position) {}

  void add_u16(TiffTag tag, const std::vector<std::uint16_t>& values);
  void add_u32(TiffTag tag, std::uint32_t value);
  void add_rational(TiffTag tag, std::uint32_t numerator, std::uint32_t denominator);
  void add_text(TiffTag tag, std::string_view text);
  // Adds a field of a TIFF 6.0 type in any order, before sort(). Ignored if the tag is already there.
  void add_raw(TiffTag tag, std::uint16_t type, std::uint64_t count, std::vector<std::byte> data);
  void sort();
  // Sets the data after all values.
  void set_tail(std::vector<std::byte> tail) { tail_ = std::move(tail); }
  // Adds offsets of 32 bits, or 64 in a BigTIFF, initially 0.
  void add_offsets(TiffTag tag, std::size_t count);
  void set_offsets(TiffTag tag, const std::vector<std::uint64_t>& values);

  // Sets the offset of the next page's directory; 0: none.
  void set_next(std::uint64_t next) { next_ = next; }

  // The size of build()'s result.
  [[nodiscard]] std::size_t size_bytes() const;
  // The end offset in the file.
  [[nodiscard]] std::uint64_t end() const { return place_ + size_bytes(); }
  [[nodiscard]] std::vector<std::byte> build() const;

 private:
  struct Field {
    TiffTag tag;
    TiffType type;
    std::uint64_t count = 0;
    std::vector<std::byte> data;
  };

  [[nodiscard]] std::size_t offset_bytes() const { return big_ ? 8 : 4; }
  [[nodiscard]] std::size_t directory_end() const;
  // Short values precede long ones, so that the mark is near the file's start.
  [[nodiscard]] static bool is_long(const Field& field) { return field.data.size() > 1024; }
  // Values after the directory are padded to even offsets.
  [[nodiscard]] std::size_t outside_bytes(const Field& field) const;

  bool big_;
  std::uint64_t place_;
  std::uint64_t next_ = 0;
  std::vector<Field> fields_;
  std::vector<std::byte> tail_;
};

}  // namespace imgpipe
