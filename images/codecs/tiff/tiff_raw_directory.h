// Reads TIFF directories from disk, without checking fields; tiff_directory.h checks those in memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "images/codecs/tiff/tiff_directory.h"

namespace imgpipe {

class InputFile;

// The encoding of numbers and offsets in a file.
struct TiffLayout {
  bool big_endian = false;
  bool big = false;  // BigTIFF

  [[nodiscard]] std::size_t offset_bytes() const { return big ? 8 : 4; }
  [[nodiscard]] std::size_t count_bytes() const { return big ? 8 : 2; }  // number of fields
  [[nodiscard]] std::size_t field_bytes() const { return big ? 20 : 12; }
  [[nodiscard]] std::size_t header_bytes() const { return big ? 16 : 8; }
  [[nodiscard]] std::size_t directory_bytes(std::size_t fields) const {
    return count_bytes() + fields * field_bytes() + offset_bytes();
  }
  [[nodiscard]] std::uint64_t number(Bytes bytes) const;
  void put(std::uint64_t value, std::size_t bytes, std::byte* to) const;
};

struct TiffFieldEntry {
  std::uint16_t tag = 0, type = 0;
  std::uint64_t count = 0;
  std::array<std::byte, 8> position{};  // its values or their offset
  std::uint64_t bytes = 0;              // size of its values; 0: none, or of unknown type

  [[nodiscard]] bool is_inside(const TiffLayout& layout) const { return bytes <= layout.offset_bytes(); }
  [[nodiscard]] std::uint64_t offset(const TiffLayout& layout) const {
    return layout.number(Bytes(position).first(layout.offset_bytes()));
  }
};

struct TiffDirectoryEntries {
  std::vector<TiffFieldEntry> fields;
  std::uint64_t next = 0;  // offset of the following one; 0: none

  [[nodiscard]] const TiffFieldEntry* find(TiffTag tag) const;  // the first; nullptr: none
};

// Returns the size of a value of this type; 0 for unknown types.
[[nodiscard]] std::size_t tiff_type_bytes(std::uint64_t type);

// Throws Error(input) if the file ends too early.
[[nodiscard]] std::vector<std::byte> read_tiff_bytes(const InputFile& file, std::uint64_t at,
                                                     std::size_t bytes);
// Throws Error(input) if the directory is out of bounds, or has no or too many fields.
[[nodiscard]] TiffDirectoryEntries read_tiff_directory(const InputFile& file, const TiffLayout& layout,
                                                       std::uint64_t offset);
// Returns up to `most` of a field's values as numbers; none if `field` is nullptr, not numeric, or out of
// bounds.
[[nodiscard]] std::vector<std::uint64_t> read_tiff_numbers(const InputFile& file, const TiffLayout& layout,
                                                           const TiffFieldEntry* field, std::uint64_t most);
// Returns the first value of a directory's field; `otherwise` if there is none.
[[nodiscard]] std::uint64_t read_tiff_number(const InputFile& file, const TiffLayout& layout,
                                             const TiffDirectoryEntries& directory, TiffTag tag,
                                             std::uint64_t otherwise);

}  // namespace imgpipe
