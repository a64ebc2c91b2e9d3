// Readers and writers that also hash the rows that pass through them (images/pixel_digest.h).
#pragma once

#include <memory>

#include "images/codecs/codec.h"
#include "images/pixel_digest.h"

namespace imgpipe {

// Add the rows to `digest`. Rows must be hashed in order, so bands, strips and devices' codecs are not
// offered: one thread decodes or encodes the image.
[[nodiscard]] std::unique_ptr<Reader> hash_rows(std::unique_ptr<Reader> reader,
                                                std::shared_ptr<PixelDigest> digest);
[[nodiscard]] std::unique_ptr<Writer> hash_rows(std::unique_ptr<Writer> writer,
                                                std::shared_ptr<PixelDigest> digest);

}  // namespace imgpipe
