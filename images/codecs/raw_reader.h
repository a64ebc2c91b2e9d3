// Reads files that are a header followed by rows of samples: PFM and NPY.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "images/codecs/codec_parts.h"
#include "images/codecs/stored_samples.h"

namespace imgpipe {

// The contents of the header.
struct RawLayout {
  const char* name = "";  // of the format, for messages
  Format format = Format::npy;
  std::int64_t width = 0, height = 0;
  int channels = 1;
  StoredType type = StoredType::u8;
  bool big_endian = false;
  bool from_bottom = false;  // the last row is stored first
  std::size_t data_at = 0;   // the offset of the samples
  std::vector<std::string> warnings{};

  [[nodiscard]] std::int64_t row_bytes() const { return width * channels * stored_bytes(type); }
};

// Returns a reader of the bytes of a whole file or, with `rest`, of a file that begins with them. Throws
// Error(input) for images too large, truncated files, and samples that the options do not accept.
[[nodiscard]] std::unique_ptr<Reader> make_raw_reader(const RawLayout& layout, Bytes bytes,
                                                      const InputFile* rest, const DecodeOptions& options);

[[nodiscard]] FileClaim raw_claim(const RawLayout& layout);

}  // namespace imgpipe
