// Directories of a TIFF that is read where it lies, piece by piece: their fields as they stand, not judged.
// tiff_directory.h is the same of a file in memory, with a judgement.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "images/codecs/tiff/tiff_directory.h"

namespace imgpipe {

class InputFile;

// How numbers and offsets stand in a file.
struct TiffLayout {
  bool big_endian = false;
  bool big = false;  // BigTIFF

  [[nodiscard]] std::size_t offset_bytes() const { return big ? 8 : 4; }
  [[nodiscard]] std::size_t count_bytes() const { return big ? 8 : 2; }  // of fields
  [[nodiscard]] std::size_t field_bytes() const { return big ? 20 : 12; }
  [[nodiscard]] std::size_t header_bytes() const { return big ? 16 : 8; }
  [[nodiscard]] std::size_t directory_bytes(std::size_t fields) const {
    return count_bytes() + fields * field_bytes() + offset_bytes();
  }
  [[nodiscard]] std::uint64_t number(Bytes bytes) const;
  void put(std::uint64_t value, std::size_t bytes, std::byte* to) const;
};

struct TiffPlacedField {
  std::uint16_t tag = 0, type = 0;
  std::uint64_t count = 0;
  std::array<std::byte, 8> place{};  // its values, or where they are
  std::uint64_t bytes = 0;           // of its values; 0: none, or of no known type

  [[nodiscard]] bool is_inside(const TiffLayout& layout) const { return bytes <= layout.offset_bytes(); }
  [[nodiscard]] std::uint64_t offset(const TiffLayout& layout) const {
    return layout.number(Bytes(place).first(layout.offset_bytes()));
  }
};

struct TiffPlacedDirectory {
  std::vector<TiffPlacedField> fields;
  std::uint64_t next = 0;  // where the following one begins; 0: there is none

  [[nodiscard]] const TiffPlacedField* find(TiffTag tag) const;  // the first; nullptr: there is none
};

// Bytes of a value of a type; 0: no such type.
[[nodiscard]] std::size_t tiff_type_bytes(std::uint64_t type);

// Throws Error(input) where the file ends before it has them all.
[[nodiscard]] std::vector<std::byte> read_tiff_bytes(const InputFile& file, std::uint64_t at,
                                                     std::size_t bytes);
// Throws Error(input) for what does not lie in the file, and for no or too many fields.
[[nodiscard]] TiffPlacedDirectory read_tiff_directory(const InputFile& file, const TiffLayout& layout,
                                                      std::uint64_t offset);
// A field's values as numbers; none where it is nullptr, its type is no number's, or they do not lie in the
// file. `most`: no more than these.
[[nodiscard]] std::vector<std::uint64_t> read_tiff_numbers(const InputFile& file, const TiffLayout& layout,
                                                           const TiffPlacedField* field, std::uint64_t most);
// The first value of a field of the directory; `otherwise` where there is none.
[[nodiscard]] std::uint64_t read_tiff_number(const InputFile& file, const TiffLayout& layout,
                                             const TiffPlacedDirectory& directory, TiffTag tag,
                                             std::uint64_t otherwise);

}  // namespace imgpipe
