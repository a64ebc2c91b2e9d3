// Entries of AVIF and HEIC in the codec table (images/formats/codec_table.h documents each), and what their
// readers share.
#pragma once

#include "images/codecs/codec_parts.h"
#include "images/codecs/file_details.h"
#include "images/codecs/heif/heif_container.h"
#include "images/codecs/metadata/metadata.h"

namespace imgpipe {

[[nodiscard]] FoundMetadata find_avif_metadata(Bytes file);
[[nodiscard]] FoundMetadata find_heic_metadata(Bytes file);

// Describes an image with AV1 or HEVC data.
[[nodiscard]] FileDetails describe_heif(const HeifContents& contents);

// Reads the container, checks its sizes against `options`, and returns a header without sample type and
// channels. A truncated file is an error, or with --lenient a warning.
struct HeifStart {
  HeifContents contents;
  ImageHeader header;
  std::vector<std::string> warnings;
};
[[nodiscard]] HeifStart start_heif(Bytes file, Format format, const std::string& name,
                                   const DecodeOptions& options);

// Scales samples of `bits` bits to the full range of the output's type, (v * M + m / 2) / m. `from` has 8-bit
// samples if `bits` is 8, otherwise 16-bit ones; it may be `to`.
void scale_rows(ConstHostView from, int bits, HostView to);

}  // namespace imgpipe
