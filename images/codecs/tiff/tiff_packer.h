// Compresses the rows of strips and tiles for a TIFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "images/codecs/codec.h"

namespace imgpipe {

// The compression state of one thread.
class TiffPacker {
 public:
  // `level`: deflate level, as for PNG.
  TiffPacker(TiffPacking packing, int level);
  ~TiffPacker();
  TiffPacker(TiffPacker&&) noexcept;
  TiffPacker& operator=(TiffPacker&&) noexcept;

  // Whether a predictor precedes the compression: horizontal differencing or, for floats, the floating-point
  // predictor.
  [[nodiscard]] static bool predicts(TiffPacking packing) {
    return packing == TiffPacking::deflate || packing == TiffPacking::zstd || packing == TiffPacking::lzw;
  }

  // The most memory of one object for chunks of `rows` rows of `row_bytes`, excluding the result of pack(),
  // and the part that a library takes from malloc().
  [[nodiscard]] static std::int64_t working_bytes(TiffPacking packing, int level, std::int64_t rows,
                                                  std::int64_t row_bytes);
  [[nodiscard]] static std::int64_t library_bytes(TiffPacking packing);
  // The maximum compressed size of such a chunk.
  [[nodiscard]] static std::int64_t max_bytes(TiffPacking packing, std::int64_t rows, std::int64_t row_bytes);

  // Compresses a chunk of `rows` rows of `width` pixels. If the image ends inside the chunk, columns beyond
  // it decode to the last pixel with differencing of integers, otherwise to 0, and rows beyond it to 0.
  // Throws Error(memory).
  [[nodiscard]] std::vector<std::byte> pack(ConstHostView pixels, std::int64_t width, std::int64_t rows);

 private:
  struct Libraries;

  TiffPacking packing_;
  int level_;
  std::vector<std::byte> raw_;
  std::unique_ptr<Libraries> libraries_;
};

}  // namespace imgpipe
