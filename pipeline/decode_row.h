// The row of the report that decoding counts as, and the name of its spans: "decode", or "decode (parallel)"
// where a decoder of that name makes the rows in place of the format's library; of a device also
// "decode+gray+hist (cuda)", with the steps that its last kernel does as well.
#pragma once

#include <string>
#include <string_view>

#include "images/codecs/codec.h"

namespace imgpipe {

// What the host does of it where a device decodes: the scan without stuffing and markers.
inline constexpr std::string_view kStagingRow = "decode (staging)";

// Who makes them at present: a reader may change its decoder on the way, so that an image has both rows.
[[nodiscard]] std::string decode_row(const Reader& reader);
[[nodiscard]] bool is_decode_row(std::string_view name);

}  // namespace imgpipe
