// The HEIC codec's entries in the codec table (images/formats/codec_table.h documents each).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "images/codecs/codec_parts.h"
#include "images/codecs/file_details.h"

namespace imgpipe {

[[nodiscard]] bool is_heic(Bytes beginning);
[[nodiscard]] std::unique_ptr<Reader> open_heic(Bytes file, const DecodeOptions& options);
[[nodiscard]] FileDetails describe_heic(Bytes file);
[[nodiscard]] std::vector<std::string> heic_libraries();

}  // namespace imgpipe
