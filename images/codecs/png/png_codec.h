// The PNG codec's entries in the codec table (images/formats/codec_table.h documents each).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"
#include "images/codecs/end_finder.h"
#include "images/codecs/pages.h"

namespace imgpipe {

[[nodiscard]] bool is_png(Bytes beginning);
[[nodiscard]] FileClaim png_claim(Bytes beginning);
[[nodiscard]] std::unique_ptr<Reader> open_png(Bytes file, const DecodeOptions& options);
[[nodiscard]] std::unique_ptr<Pages> open_png_pages(const InputFile& file, const DecodeOptions& options);
[[nodiscard]] std::unique_ptr<EndFinder> find_png_end();
[[nodiscard]] std::unique_ptr<Writer> make_png_writer(Shape shape, const EncodeOptions& options);
[[nodiscard]] Mark find_png_mark(Bytes beginning);
void add_png_mark(std::vector<std::byte>& file, const Mark& mark);
[[nodiscard]] std::vector<std::string> png_libraries();

}  // namespace imgpipe
