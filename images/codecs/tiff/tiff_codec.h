// What the codec of TIFF gives to its row (images/formats/codec_table.h says what each is).
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
// The same of another page than the first, which is page 0. Throws Error(input) where there is no such page.
[[nodiscard]] std::unique_ptr<Reader> open_tiff_page(Bytes file, const DecodeOptions& options,
                                                     std::int64_t page);
[[nodiscard]] std::unique_ptr<Writer> make_tiff_writer(Shape shape, const EncodeOptions& options);
// The same, of a BigTIFF where the file might have more bytes than that.
[[nodiscard]] std::unique_ptr<Writer> make_tiff_writer_up_to(std::int64_t most_classic_bytes, Shape shape,
                                                             const EncodeOptions& options);
// The most bytes of a page of a stack, metadata aside.
[[nodiscard]] std::int64_t most_tiff_page_bytes(Shape shape, const EncodeOptions& options);
[[nodiscard]] Mark find_tiff_mark(Bytes beginning);
[[nodiscard]] std::vector<std::string> tiff_libraries();

}  // namespace imgpipe
