// The frames of an animated WebP, with the pixels of WebPAnimDecoder (libwebpdemux), which is not used: it
// decodes frames only in order, and stops at the first damaged one.
#include "images/codecs/animation.h"
#include "images/codecs/webp/webp_codec.h"
#include "images/codecs/webp/webp_container.h"

namespace imgpipe {
namespace {

OpenFrame open_listed_webp_frame(Bytes file, const AnimationFrame& frame, const DecodeOptions& options) {
  return {.reader = open_webp_image(read_webp_frame(file, frame), options)};
}

// The arithmetic of BlendPixelNonPremult() in libwebp's src/demux/anim_decode.c, which approximates a
// division by 255.
void blend_as_libwebp(const Sample8* from, std::int64_t pixels, Sample8* canvas) {
  for (std::int64_t x = 0; x < pixels; ++x, from += 4, canvas += 4) {
    const std::uint32_t over = from[3];
    if (over == 0) continue;
    const std::uint32_t under = canvas[3] * (256 - over) >> 8;
    const std::uint32_t alpha = over == kMaxSample ? over : over + under;
    const std::uint32_t scale = (1U << 24) / alpha;
    for (int c = 0; c < 3; ++c) {
      const std::uint32_t blended = (from[c] * over + canvas[c] * under) * scale >> 24;
      canvas[c] = over == kMaxSample ? from[c] : static_cast<Sample8>(blended);
    }
    canvas[3] = static_cast<Sample8>(alpha);
  }
}

}  // namespace

std::unique_ptr<Pages> open_webp_pages(const InputFile& file, const DecodeOptions& options) {
  return open_animation(file, options,
                        {.frames = read_webp_frames,
                         .open = open_listed_webp_frame,
                         .metadata_file = webp_metadata_file,
                         .blend = blend_as_libwebp});
}

}  // namespace imgpipe
