// PFM (Debevec: "PFM Portable FloatMap Image Format"), grey and RGB: entries in the codec table
// (images/formats/codec_table.h documents each). The rows are stored from bottom to top, and the sign of a
// scale factor selects the byte order. imgpipe does not apply the factor.
#pragma once

#include <cstddef>
#include <memory>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"

namespace imgpipe {

[[nodiscard]] bool is_pfm(Bytes beginning);
[[nodiscard]] FileClaim pfm_claim(Bytes beginning);
[[nodiscard]] std::unique_ptr<Reader> open_pfm(Bytes file, const DecodeOptions& options);
// Whether the header is valid and ends within these bytes.
[[nodiscard]] bool is_readable_pfm(Bytes beginning, const DecodeOptions& options);
[[nodiscard]] std::unique_ptr<Reader> open_pfm_rows(const InputFile& file, const DecodeOptions& options);
[[nodiscard]] std::unique_ptr<Writer> make_pfm_writer(Shape shape, const EncodeOptions& options);
[[nodiscard]] Mark find_pfm_mark(Bytes beginning);

}  // namespace imgpipe
