// What the codec of the Netpbm formats gives to their rows (images/formats/codec_table.h says what each is).
#pragma once

#include <cstddef>
#include <memory>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"
#include "images/codecs/end_finder.h"

namespace imgpipe {

// White space as these formats have it: the blank, and 9 to 13 of ASCII.
[[nodiscard]] inline bool is_netpbm_space(unsigned c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
// How many bytes of it the bytes begin with.
[[nodiscard]] inline std::size_t netpbm_spaces(Bytes bytes) {
  std::size_t spaces = 0;
  while (spaces < bytes.size() && is_netpbm_space(std::to_integer<unsigned>(bytes[spaces]))) ++spaces;
  return spaces;
}

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
