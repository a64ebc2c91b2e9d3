// The PSD codec's entries in the codec table (images/formats/codec_table.h documents each).
#pragma once

#include <memory>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"

namespace imgpipe {

[[nodiscard]] bool is_psd(Bytes beginning);
[[nodiscard]] FileClaim psd_claim(Bytes beginning);
[[nodiscard]] std::unique_ptr<Reader> open_psd(Bytes file, const DecodeOptions& options);

}  // namespace imgpipe
