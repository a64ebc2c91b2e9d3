// The name of the decoding spans and of their report row: "decode", or "decode (parallel)" with the name of a
// decoder that replaces the format's library. It also names the steps that the decoder performs:
// "decode+gray (parallel)", or on a device "decode+gray+hist (cuda)".
#pragma once

#include <string>
#include <string_view>

#include "images/codecs/codec.h"

namespace imgpipe {

// The host's part when a device decodes: removing stuffing and markers from the scan.
inline constexpr std::string_view kStagingRow = "decode (staging)";

// Returns the row of the reader's current decoder. A reader may change its decoder midway, so that an image
// has both rows. `step`: the label of the step that the reader performs; may be empty.
[[nodiscard]] std::string decode_row(const Reader& reader, std::string_view step = {});
[[nodiscard]] bool is_decode_row(std::string_view name);

}  // namespace imgpipe
