// What the codec of GIF gives to its row (images/formats/codec_table.h says what each is).
#pragma once

#include <memory>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"

namespace imgpipe {

[[nodiscard]] bool is_gif(Bytes beginning);
[[nodiscard]] FileClaim gif_claim(Bytes beginning);
[[nodiscard]] std::unique_ptr<Reader> open_gif(Bytes file, const DecodeOptions& options);

// Whether the first frame of a GIF that open_gif() takes covers the whole picture.
[[nodiscard]] bool gif_frame_covers_screen(Bytes file);

}  // namespace imgpipe
