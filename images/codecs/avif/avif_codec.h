// The AVIF codec's entries in the codec table (images/formats/codec_table.h documents each).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "images/codecs/codec_parts.h"
#include "images/codecs/file_details.h"

namespace imgpipe {

[[nodiscard]] bool is_avif(Bytes beginning);
[[nodiscard]] std::unique_ptr<Reader> open_avif(Bytes file, const DecodeOptions& options);
[[nodiscard]] FileDetails describe_avif(Bytes file);
[[nodiscard]] std::vector<std::string> avif_libraries();

}  // namespace imgpipe
