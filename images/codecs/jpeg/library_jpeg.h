// libjpeg-turbo's decoder, which also provides the scan for the built-in decoder.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "images/codecs/codec_parts.h"
#include "images/codecs/jpeg/baseline_scan.h"

namespace imgpipe {

class LibraryJpeg : public Reader {
 public:
  // Returns the scan if the built-in decoder supports it: sequential, Huffman codes, 8 bits, all components
  // in one scan, grey or YCbCr in 4:4:4, 4:2:2, 4:2:0 or 4:4:0, and no warning so far. Does not check the
  // codes themselves. Call it before the first row.
  [[nodiscard]] virtual std::optional<BaselineScan> baseline() const = 0;
  // Checks the data after the end marker. Returns a warning, or "" for none. Throws Error(input).
  [[nodiscard]] virtual std::string check_data_after_end(Bytes after) const = 0;
};

// Throws like open_reader().
[[nodiscard]] std::unique_ptr<LibraryJpeg> open_library_jpeg(Bytes file, const DecodeOptions& options);

}  // namespace imgpipe
