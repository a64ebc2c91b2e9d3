// The TIFF codec's entries in the codec table (images/formats/codec_table.h documents each).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"
#include "images/codecs/tiff/tiff_directory.h"  // is_tiff()

namespace imgpipe {

[[nodiscard]] FileClaim tiff_claim(Bytes beginning);
[[nodiscard]] std::unique_ptr<Reader> open_tiff(Bytes file, const DecodeOptions& options);
// Opens any page; the first is page 0. Throws Error(input) if the file has no such page.
[[nodiscard]] std::unique_ptr<Reader> open_tiff_page(Bytes file, const DecodeOptions& options,
                                                     std::int64_t page);
[[nodiscard]] std::unique_ptr<Writer> make_tiff_writer(Shape shape, const EncodeOptions& options);
// Like make_tiff_writer(), but writes a BigTIFF if the file might exceed `max_classic_bytes`.
[[nodiscard]] std::unique_ptr<Writer> make_tiff_writer_up_to(std::int64_t max_classic_bytes, Shape shape,
                                                             const EncodeOptions& options);
// Returns the maximum size of a page of a stack, without metadata.
[[nodiscard]] std::int64_t max_tiff_page_bytes(Shape shape, const EncodeOptions& options);
[[nodiscard]] Mark find_tiff_mark(Bytes beginning);
[[nodiscard]] std::vector<std::string> tiff_libraries();

}  // namespace imgpipe
