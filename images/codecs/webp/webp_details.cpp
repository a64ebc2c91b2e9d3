// Describes how a WebP is stored, from its chunks.
#include "images/codecs/codec_parts.h"
#include "images/codecs/file_details.h"
#include "images/codecs/sniff.h"
#include "images/codecs/webp/webp_container.h"

namespace imgpipe {
namespace {

// Counts the ANMF chunks (RFC 9649, section 2.7.1.1).
std::int64_t frames_of(Bytes file) {
  std::int64_t frames = 0;
  for (std::size_t at = 12; at < file.size() && file.size() - at >= 8;) {
    const std::size_t size = little_endian(file, at + 4, 4);
    if (matches_at(file, at, "ANMF")) ++frames;
    at += 8 + size + (size & 1);
  }
  return frames;
}

}  // namespace

FileDetails describe_webp(Bytes file) {
  const WebpContents contents = read_webp_contents(file);
  const WebpImage& picture = contents.picture;
  FileDetails details{.decoder = "libwebp"};
  details.color = picture.lossless ? "RGB" : "YCbCr";
  details.channels = picture.has_alpha ? 4 : 3;
  details.compression = picture.lossless ? "lossless (VP8L)" : "lossy (VP8)";
  if (!picture.lossless) details.subsampling = "4:2:0";
  details.variant = matches_at(file, 12, "VP8X") ? "extended" : "simple";
  const std::int64_t frames = frames_of(file);
  details.images = std::max<std::int64_t>(frames, 1);
  if (contents.has_more_images) details.frames = read_webp_frames(file).frames;
  if (frames > 0) details.variant += ", animated";
  return details;
}

}  // namespace imgpipe
