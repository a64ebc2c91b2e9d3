// EXIF blocks for tests, made field by field in either byte order, and read back without imgpipe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace imgpipe::test {

// A field of a directory: type and values (a fraction is two numbers). ExifFields maps tags to fields.
struct ExifField {
  int type = 3;
  std::vector<std::uint32_t> values{};
  std::uint32_t count = 0;  // 0: the number of values
};
using ExifFields = std::map<int, ExifField>;

struct ExifParts {
  ExifFields image, exif, gps, interoperability, thumbnail;
  bool big_endian = false;

  [[nodiscard]] std::vector<std::byte> build() const;
};

[[nodiscard]] inline ExifField exif_text(const std::string& text) {
  ExifField field{.type = 2};
  for (const char c : text) field.values.push_back(static_cast<unsigned char>(c));
  field.values.push_back(0);
  return field;
}

[[nodiscard]] inline bool same_values(const ExifFields& a, const ExifFields& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return x.first == y.first && x.second.type == y.second.type && x.second.values == y.second.values;
  });
}

// A camera's block with all its directories, a maker note and a thumbnail.
[[nodiscard]] ExifParts camera_exif(int orientation, bool big_endian = false);

// Returns a block's fields by directory. Throws std::runtime_error unless it is valid to the last byte.
[[nodiscard]] ExifParts read_exif(std::span<const std::byte> block);

}  // namespace imgpipe::test
