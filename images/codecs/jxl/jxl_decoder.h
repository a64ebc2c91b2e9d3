// libjxl's decoder after the headers of a codestream.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "images/codecs/codec_parts.h"
#include "images/codecs/jxl/jxl_functions.h"

namespace imgpipe {

struct JxlDecoderEnd {
  void operator()(JxlDecoder* decoder) const { late_jxl::JxlDecoderDestroy(decoder); }
};
using JxlDecoderOwner = std::unique_ptr<JxlDecoder, JxlDecoderEnd>;

struct JxlHeaders {
  JxlBasicInfo info{};
  std::vector<std::byte> profile;  // ICC, of the decoded pixels; empty: sRGB, or grey with its curve
  bool has_black = false;          // the fourth channel of CMYK
  Bytes frames;                    // the codestream after its headers

  [[nodiscard]] bool has_alpha() const { return info.alpha_bits > 0; }
};

// Returns a decoder that reports `events`, keeps the stored orientation, and reads `codestream`, which must
// outlive it. Throws Error(memory).
[[nodiscard]] JxlDecoderOwner start_jxl(Bytes codestream, int events);
// Throws Error(input) if the headers are damaged or truncated.
[[nodiscard]] JxlHeaders read_jxl_headers(Bytes codestream);

}  // namespace imgpipe
