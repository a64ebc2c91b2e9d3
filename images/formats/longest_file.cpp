// How much of a file is worth reading, by its first bytes.
#include <algorithm>

#include "images/codecs/sniff.h"
#include "images/error.h"
#include "images/formats/codec_table.h"

namespace imgpipe {

std::int64_t longest_file(std::span<const std::byte> beginning, const DecodeOptions& options) {
  const Codec* codec = codec_by_content(beginning);
  if (codec == nullptr) throw Error(ErrorKind::input, unknown_content_reason(beginning));
  const FileClaim claim = codec->claim(beginning);
  std::int64_t pixels = 0;
  if (claim.width > 0 && claim.height > 0) {
    check_header({claim.width, claim.height, 1}, options);
    pixels = claim.width * claim.height;
  }
  const std::int64_t most = max_file_bytes(options);
  if (claim.other_bytes >= most) return most;
  return std::min(most, pixels * claim.bytes_a_pixel + claim.other_bytes + kMostMetadataBytes);
}

}  // namespace imgpipe
