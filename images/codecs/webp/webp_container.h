// The container of WebP (RFC 9649): its chunks and their contents, read before libwebp sees any of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "images/codecs/animation.h"
#include "images/codecs/codec_parts.h"

namespace imgpipe {

// The first image of a file.
struct WebpImage {
  std::int64_t x = 0, y = 0, width = 0, height = 0;  // its rectangle, within the canvas
  bool lossless = false;
  bool has_alpha = false;     // lossless: the hint in its header; lossy: has an ALPH chunk
  bool packed_alpha = false;  // lossy: the alpha is compressed as a lossless image
  Bytes codes;                // lossless codes of image or alpha, after their header; empty: none
  Bytes data;                 // from its ALPH or VP8 chunk on, for WebPDecode(); truncated if the file is
};

struct WebpContents {
  std::int64_t width = 0, height = 0;  // of the canvas
  WebpImage picture;
  bool has_more_images = false;  // an animation's further frames
  Bytes exif, profile;           // empty: none
  // Damage after the readable header of the first image: a truncated file, or a broken chunk after the image.
  std::vector<std::string> faults;
  std::string following;  // warning about bytes after the image; empty: none

  [[nodiscard]] bool image_covers_canvas() const {
    return picture.width == width && picture.height == height;
  }
};

// Walks the chunks without reading past the file. Sizes are within the format's limits and never 0: 2^24 a
// side and 2^32 - 1 pixels for an animation, 16,384 a side for an image. Throws Error(input) if no image can
// be decoded: a misplaced chunk, contradictory sizes, or a truncated header.
[[nodiscard]] WebpContents read_webp_contents(Bytes file);

// Lists the frames of an animation that read_webp_contents() accepts; empty for a still image.
[[nodiscard]] FrameList read_webp_frames(Bytes file);
// Reads a frame of that list without a fault.
[[nodiscard]] WebpImage read_webp_frame(Bytes file, const AnimationFrame& frame);
// Opens an image alone, with alpha.
[[nodiscard]] std::unique_ptr<Reader> open_webp_image(const WebpImage& image, const DecodeOptions& options);
// Returns the file's VP8X chunk and its chunks of metadata, as a file.
[[nodiscard]] std::vector<std::byte> webp_metadata_file(Bytes file);

// Width and height from the first 30 bytes; 0 if they are not there.
struct WebpSize {
  std::int64_t width = 0, height = 0;
};
[[nodiscard]] WebpSize webp_size(Bytes beginning);

}  // namespace imgpipe
