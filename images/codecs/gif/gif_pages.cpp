// The frames of an animated GIF. They are composed as browsers do: outside the frames the canvas is
// transparent, and so is what method 2 disposes of; the background colour (section 18) is ignored.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "images/codecs/animation.h"
#include "images/codecs/file_details.h"
#include "images/codecs/gif/gif_blocks.h"
#include "images/codecs/gif/gif_codec.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

AnimationFrame animation_frame_of(Bytes file, std::size_t at) {
  AnimationFrame frame{.blends = true, .duration_ms = 0.0, .at = at};
  try {
    const GifFrame gif = gif_frame_at(file, at);
    frame.area = {gif.x, gif.y, gif.width, gif.height};
    frame.disposal = gif.disposal;
    frame.opaque = gif.transparent < 0;
    frame.duration_ms = 10.0 * gif.delay;
  } catch (const Error& error) {
    frame.fault = error.what();
  }
  return frame;
}

// Each frame begins after the previous image, with its extensions.
FrameList gif_frames(Bytes file) {
  FrameList list;
  const std::size_t first = global_gif_table(file).end();
  for (std::size_t at = first, begin = first; at < file.size() && list.frames.size() <= kMaxFrames;) {
    const std::uint32_t block = little_endian(file, at, 1);
    if (block == kGifImage && at + 10 <= file.size()) list.frames.push_back(animation_frame_of(file, begin));
    const std::size_t end = end_of_gif_block(file, at);
    if (end == 0) break;
    at = end;
    if (block == kGifImage || (block == 0 && begin + 1 == at)) begin = at;
  }
  return list;
}

OpenFrame open_listed_gif_frame(Bytes file, const AnimationFrame& frame, const DecodeOptions& options) {
  return {.reader = open_gif_frame(file, gif_frame_at(file, frame.at), options)};
}

// Everything except images and their graphic control extensions.
std::vector<std::byte> gif_metadata_file(Bytes file) {
  const std::size_t first = std::min(file.size(), global_gif_table(file).end());
  std::vector<std::byte> out(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(first));
  for (std::size_t at = first; at < file.size();) {
    const std::size_t end = std::min(file.size(), end_of_gif_block(file, at));
    if (end <= at) break;
    const Bytes block = file.subspan(at, end - at);
    const bool is_extension = little_endian(block, 0, 1) == kGifExtension;
    if (is_extension && little_endian(block, 1, 1) != kGifGraphicControl)
      out.insert(out.end(), block.begin(), block.end());
    at = end;
  }
  out.push_back(static_cast<std::byte>(kGifTrailer));
  return out;
}

}  // namespace

std::unique_ptr<Pages> open_gif_pages(const InputFile& file, const DecodeOptions& options) {
  return open_animation(
      file, options,
      {.frames = gif_frames, .open = open_listed_gif_frame, .metadata_file = gif_metadata_file});
}

FileDetails describe_gif(Bytes file) {
  const GifFrame first = first_gif_frame(file);
  FileDetails details{.color = "palette", .channels = 1, .compression = "LZW", .decoder = "imgpipe"};
  if (first.interlaced) details.layout = "interlaced";
  details.variant = matches_at(file, 0, "GIF87a") ? "87a" : "89a";
  details.images = walk_gif_blocks(file, global_gif_table(file).end()).images;
  if (details.images > 1) details.frames = gif_frames(file).frames;
  return details;
}

}  // namespace imgpipe
