// Reads NumPy's .npy, versions 1.0 to 3.0 (numpy.lib.format): arrays of height x width, or height x width x
// channels with 1 to 4 channels, in C order. Entries in the codec table (images/formats/codec_table.h).
#pragma once

#include <memory>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"

namespace imgpipe {

[[nodiscard]] bool is_npy(Bytes beginning);
[[nodiscard]] FileClaim npy_claim(Bytes beginning);
[[nodiscard]] std::unique_ptr<Reader> open_npy(Bytes file, const DecodeOptions& options);
// Whether the header is valid and ends within these bytes.
[[nodiscard]] bool is_readable_npy(Bytes beginning, const DecodeOptions& options);
[[nodiscard]] std::unique_ptr<Reader> open_npy_rows(const InputFile& file, const DecodeOptions& options);

}  // namespace imgpipe
