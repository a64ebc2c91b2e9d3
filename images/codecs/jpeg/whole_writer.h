// The writer of a whole JPEG by libjpeg-turbo, one row after the other.
#pragma once

#include <cstdint>
#include <memory>

#include "images/codecs/codec.h"

namespace imgpipe {

class WholeJpegWriter : public Writer {
 public:
  // Returns everything before the scan. Replaces write_rows() and finish().
  [[nodiscard]] virtual EncodedFile write_header() = 0;
  // Returns the most bytes that libjpeg writes for `rows` rows of the image, with the headers before them.
  [[nodiscard]] virtual std::int64_t max_bytes(std::int64_t rows) const = 0;
  // Returns the memory besides the file, and the library's part of it.
  [[nodiscard]] virtual std::int64_t encoder_bytes() const = 0;
  [[nodiscard]] virtual std::int64_t library_bytes_of_rows() const = 0;
};

[[nodiscard]] std::unique_ptr<WholeJpegWriter> make_whole_jpeg_writer(Shape shape,
                                                                      const EncodeOptions& options);

}  // namespace imgpipe
