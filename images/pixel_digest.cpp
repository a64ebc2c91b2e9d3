#include "images/pixel_digest.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

namespace imgpipe {

void PixelDigest::add(ConstHostView rows) {
  const auto row_bytes = static_cast<std::size_t>(rows.row_bytes());
  for (std::int64_t y = 0; y < rows.height; ++y) {
    const std::span row(rows.row(y), row_bytes);
    if constexpr (std::endian::native == std::endian::little) {
      digest_.add(row);
    } else {
      const auto sample_bytes = static_cast<std::size_t>(bytes_per_sample(rows.sample));
      std::vector<std::byte> little(row.begin(), row.end());
      for (std::size_t at = 0; at < row_bytes; at += sample_bytes)
        std::ranges::reverse(std::span(little).subspan(at, sample_bytes));
      digest_.add(little);
    }
  }
}

std::string pixel_sha256(ConstHostView image) {
  PixelDigest digest;
  digest.add(image);
  return digest.hex();
}

}  // namespace imgpipe
