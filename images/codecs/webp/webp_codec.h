// The WebP codec's entries in the codec table (images/formats/codec_table.h documents each).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"
#include "images/codecs/end_finder.h"
#include "images/codecs/pages.h"

namespace imgpipe {

[[nodiscard]] bool is_webp(Bytes beginning);
[[nodiscard]] FileClaim webp_claim(Bytes beginning);
[[nodiscard]] std::unique_ptr<Reader> open_webp(Bytes file, const DecodeOptions& options);
[[nodiscard]] std::unique_ptr<Pages> open_webp_pages(const InputFile& file, const DecodeOptions& options);
[[nodiscard]] std::unique_ptr<EndFinder> find_webp_end();
[[nodiscard]] std::unique_ptr<Writer> make_webp_writer(Shape shape, const EncodeOptions& options);
[[nodiscard]] Mark find_webp_mark(Bytes beginning);
[[nodiscard]] std::vector<std::string> webp_libraries();

// Returns a private chunk with the mark; empty for Mark::none. It belongs between VP8X and the image, where
// readers skip unknown chunks (RFC 9649, section 2.7.1.6).
[[nodiscard]] std::vector<std::byte> webp_mark(const Mark& mark);

// Appends the low `count` bytes of a number, lowest first.
void append_riff_number(std::vector<std::byte>& out, std::size_t value, int count);

}  // namespace imgpipe
