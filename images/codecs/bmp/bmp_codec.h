// The BMP codec's entries in the codec table (images/formats/codec_table.h documents each).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"
#include "images/codecs/end_finder.h"

namespace imgpipe {

[[nodiscard]] bool is_bmp(Bytes beginning);
[[nodiscard]] FileClaim bmp_claim(Bytes beginning);
[[nodiscard]] std::unique_ptr<Reader> open_bmp(Bytes file, const DecodeOptions& options);
[[nodiscard]] std::unique_ptr<EndFinder> find_bmp_end();
[[nodiscard]] std::unique_ptr<Writer> make_bmp_writer(Shape shape, const EncodeOptions& options);
[[nodiscard]] Mark find_bmp_mark(Bytes beginning);
void add_bmp_mark(std::vector<std::byte>& file, const Mark& mark);

}  // namespace imgpipe
