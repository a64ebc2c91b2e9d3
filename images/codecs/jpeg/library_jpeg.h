// libjpeg-turbo's decoder, and what it says of a file before the first row.
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
  // The scan, where our own decoder takes such: sequential, Huffman codes, 8 bits, all components in one
  // scan, grey or YCbCr in 4:4:4, 4:2:2, 4:2:0 or 4:4:0, and nothing before it that had to be let pass. Tells
  // nothing of the codes themselves. Before the first row.
  [[nodiscard]] virtual std::optional<BaselineScan> baseline() const = 0;
  // Judges the bytes behind the end marker: padding and what cameras append there is as it should be. Returns
  // a warning or "". Throws Error(input).
  [[nodiscard]] virtual std::string judge_behind_end(Bytes behind) const = 0;
};

// Throws as open_reader().
[[nodiscard]] std::unique_ptr<LibraryJpeg> open_library_jpeg(Bytes file, const DecodeOptions& options);

}  // namespace imgpipe
