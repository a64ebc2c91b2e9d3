// stb_image and stb_image_write, which --codec stb uses for the formats that they support.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"

namespace imgpipe {

// Opens a file of a format that stb_reads() (stb_claims.h) accepts.
[[nodiscard]] std::unique_ptr<Reader> open_stb(Bytes file, Format format, const DecodeOptions& options);

[[nodiscard]] bool stb_writes(Format format);
// Inserts metadata and mark into a whole file.
using FileEdit = std::function<void(std::vector<std::byte>& file)>;
// `format`: one that stb_writes() accepts. Throws Error(usage) for a shape that stb cannot write.
[[nodiscard]] std::unique_ptr<Writer> make_stb_writer(Format format, Shape shape,
                                                      const EncodeOptions& options, FileEdit insert_metadata);

[[nodiscard]] std::string stb_version();

}  // namespace imgpipe
