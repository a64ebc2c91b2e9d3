// The GIF codec's entries in the codec table (images/formats/codec_table.h documents each).
#pragma once

#include <memory>

#include "images/codecs/codec.h"
#include "images/codecs/codec_parts.h"
#include "images/codecs/pages.h"

namespace imgpipe {

[[nodiscard]] bool is_gif(Bytes beginning);
[[nodiscard]] FileClaim gif_claim(Bytes beginning);
[[nodiscard]] std::unique_ptr<Reader> open_gif(Bytes file, const DecodeOptions& options);
[[nodiscard]] std::unique_ptr<Pages> open_gif_pages(const InputFile& file, const DecodeOptions& options);

// Whether the first frame of a valid GIF covers the whole logical screen.
[[nodiscard]] bool gif_frame_covers_screen(Bytes file);

}  // namespace imgpipe
