// The row of the report that decoding counts as, and the name of its spans: "decode", or "decode (parallel)"
// where a decoder of that name makes the rows in place of the format's library.
#pragma once

#include <string>
#include <string_view>

#include "images/codecs/codec.h"

namespace imgpipe {

// Who makes them at present: a reader may change its decoder on the way, so that an image has both rows.
[[nodiscard]] std::string decode_row(const Reader& reader);
[[nodiscard]] bool is_decode_row(std::string_view name);

}  // namespace imgpipe
