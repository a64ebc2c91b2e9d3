// The TGA codec's entries in the codec table (images/formats/codec_table.h documents each).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"

namespace imgpipe {

inline constexpr std::int64_t kTgaHeaderBytes = 18;

[[nodiscard]] bool is_tga(Bytes beginning);
[[nodiscard]] FileClaim tga_claim(Bytes beginning);
[[nodiscard]] std::unique_ptr<Reader> open_tga(Bytes file, const DecodeOptions& options);
[[nodiscard]] std::unique_ptr<Writer> make_tga_writer(Shape shape, const EncodeOptions& options);
[[nodiscard]] Mark find_tga_mark(Bytes beginning);
// has_tga_footer() returns whether the file ends in the footer of version 2.0. tga_extension() returns the
// part of the extension area that version 2.0 defines; empty if the file has none.
[[nodiscard]] bool has_tga_footer(Bytes file);
[[nodiscard]] Bytes tga_extension(Bytes file);
void add_tga_mark(std::vector<std::byte>& file, const Mark& mark);

}  // namespace imgpipe
