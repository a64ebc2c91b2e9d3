// The Netpbm codecs' entries in the codec table (images/formats/codec_table.h documents each).
#pragma once

#include <cstddef>
#include <memory>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"
#include "images/codecs/end_finder.h"

namespace imgpipe {

// Whether `c` is white space in these formats: the space character or ASCII 9 to 13.
[[nodiscard]] inline bool is_netpbm_space(unsigned c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
// Returns the number of white-space bytes at the start.
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
// Whether the file is raw and its header is valid and ends within these bytes.
[[nodiscard]] bool is_raw_netpbm(Bytes beginning, const DecodeOptions& options);
[[nodiscard]] std::unique_ptr<Reader> open_netpbm_rows(const InputFile& file, const DecodeOptions& options);
[[nodiscard]] std::unique_ptr<EndFinder> find_netpbm_end();
[[nodiscard]] std::unique_ptr<Writer> make_netpbm_writer(Shape shape, const EncodeOptions& options);
[[nodiscard]] Mark find_netpbm_mark(Bytes beginning);

}  // namespace imgpipe
