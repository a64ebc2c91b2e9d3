// What the codec of the Netpbm formats gives to their rows (images/codecs/codec_table.h says what each is).
#pragma once

#include <memory>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"
#include "images/codecs/end_finder.h"

namespace imgpipe {

[[nodiscard]] bool is_pbm(Bytes beginning);
[[nodiscard]] bool is_pgm(Bytes beginning);
[[nodiscard]] bool is_ppm(Bytes beginning);
[[nodiscard]] FileClaim netpbm_claim(Bytes beginning);
[[nodiscard]] std::unique_ptr<Reader> open_netpbm(Bytes file, const DecodeOptions& options);
// Raw, with a sound header that ends within these bytes.
[[nodiscard]] bool is_raw_netpbm(Bytes beginning, const DecodeOptions& options);
[[nodiscard]] std::unique_ptr<Reader> open_netpbm_rows(const InputFile& file, const DecodeOptions& options);
[[nodiscard]] std::unique_ptr<EndFinder> find_netpbm_end();
[[nodiscard]] std::unique_ptr<Writer> make_netpbm_writer(Shape shape, const EncodeOptions& options);
[[nodiscard]] Mark find_netpbm_mark(Bytes beginning);

}  // namespace imgpipe
