// stb_image and stb_image_write, which --codec stb uses for the formats that they support.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"

namespace imgpipe {

// For a format that stb_reads() (stb_claims.h).
[[nodiscard]] std::unique_ptr<Reader> open_stb(Bytes file, Format format, const DecodeOptions& options);

[[nodiscard]] bool stb_writes(Format format);
// Inserts metadata and mark into a whole file.
using FileEdit = std::function<void(std::vector<std::byte>& file)>;
// For a format that stb_writes(). Throws Error(usage) for a shape that it cannot write.
[[nodiscard]] std::unique_ptr<Writer> make_stb_writer(Format format, Shape shape,
                                                      const EncodeOptions& options, FileEdit insert_metadata);

[[nodiscard]] std::string stb_version();

}  // namespace imgpipe
