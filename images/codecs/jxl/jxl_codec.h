// The JPEG XL codec's entries in the codec table (images/formats/codec_table.h documents each); is_jxl() is
// in jxl_container.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "images/codecs/codec_parts.h"
#include "images/codecs/file_details.h"
#include "images/codecs/jxl/jxl_container.h"
#include "images/codecs/metadata/metadata.h"

namespace imgpipe {

[[nodiscard]] FileClaim jxl_claim(Bytes beginning);
[[nodiscard]] std::unique_ptr<Reader> open_jxl(Bytes file, const DecodeOptions& options);
[[nodiscard]] FoundMetadata find_jxl_metadata(Bytes file);
[[nodiscard]] FileDetails describe_jxl(Bytes file);
[[nodiscard]] std::vector<std::string> jxl_libraries();

}  // namespace imgpipe
