// Packs the rows of strips and tiles for a TIFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "images/codecs/codec.h"

namespace imgpipe {

// What one thread needs to pack.
class TiffPacker {
 public:
  // `level`: of deflate, as of PNG.
  TiffPacker(TiffPacking packing, int level);
  ~TiffPacker();
  TiffPacker(TiffPacker&&) noexcept;
  TiffPacker& operator=(TiffPacker&&) noexcept;

  // Horizontal differencing goes before these.
  [[nodiscard]] static bool predicts(TiffPacking packing) {
    return packing == TiffPacking::deflate || packing == TiffPacking::zstd || packing == TiffPacking::lzw;
  }

  // The most that one holds for chunks of `rows` rows of so many bytes, beside what pack() returns, and of
  // that what a library takes from malloc().
  [[nodiscard]] static std::int64_t working_bytes(TiffPacking packing, int level, std::int64_t rows,
                                                  std::int64_t row_bytes);
  [[nodiscard]] static std::int64_t library_bytes(TiffPacking packing);
  // The most that a chunk of `rows` rows of so many bytes can become.
  [[nodiscard]] static std::int64_t most_bytes(TiffPacking packing, int level, std::int64_t rows,
                                               std::int64_t row_bytes);

  // One chunk of `width` pixels a row, `rows` rows: the pixels, and in the first of these rows, and behind
  // the last column, nothing but the last pixel's value or 0 where the image ends before. Throws
  // Error(memory).
  [[nodiscard]] std::vector<std::byte> pack(ConstHostView pixels, std::int64_t width, std::int64_t rows);

 private:
  struct Libraries;

  TiffPacking packing_;
  int level_;
  std::vector<std::byte> raw_;
  std::unique_ptr<Libraries> libraries_;
};

}  // namespace imgpipe
