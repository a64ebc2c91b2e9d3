// The JPEG codec's entries in the codec table (images/formats/codec_table.h documents each).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"
#include "images/codecs/end_finder.h"

namespace imgpipe {

[[nodiscard]] bool is_jpeg(Bytes beginning);
[[nodiscard]] FileClaim jpeg_claim(Bytes beginning);
[[nodiscard]] std::unique_ptr<Reader> open_jpeg(Bytes file, const DecodeOptions& options);
[[nodiscard]] std::unique_ptr<EndFinder> find_jpeg_end();
[[nodiscard]] std::unique_ptr<Writer> make_jpeg_writer(Shape shape, const EncodeOptions& options);
[[nodiscard]] Mark find_jpeg_mark(Bytes beginning);
void add_jpeg_mark(std::vector<std::byte>& file, const Mark& mark);
[[nodiscard]] std::vector<std::string> jpeg_libraries();

}  // namespace imgpipe
