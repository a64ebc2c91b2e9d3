#include "images/codecs/gif/gif_blocks.h"

#include <string>

#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using Disposal = AnimationFrame::Disposal;

GifColorTable color_table(std::size_t at, std::uint32_t flags) {
  return {at, (flags & 0x80) != 0 ? 2U << (flags & 7) : 0U};
}

// The reason is `subject` and `rest`.
void require_gif(bool condition, const char* subject, const char* rest = "") {
  if (!condition) throw Error(ErrorKind::input, std::string("gif: ") + subject + rest);
}

// Method 3 restores; undefined ones do so too, as in Pillow.
Disposal disposal_of(std::uint32_t flags) {
  const std::uint32_t method = flags >> 2 & 7;
  return method < 2 ? Disposal::keep : method == 2 ? Disposal::clear : Disposal::restore;
}

// Zeros between blocks are common.
std::size_t skip_gif_zeros(Bytes file, std::size_t at) {
  while (at < file.size() && file[at] == std::byte{0}) ++at;
  return at;
}

}  // namespace

GifColorTable global_gif_table(Bytes file) {
  return color_table(13, little_endian(file, 10, 1));
}

Shape gif_screen(Bytes file) {
  require_gif(file.size() >= 13, "the header is truncated");
  return {little_endian(file, 6, 2), little_endian(file, 8, 2), 4};
}

std::size_t skip_gif_sub_blocks(Bytes file, std::size_t at) {
  std::uint32_t block = 0;
  while ((block = little_endian(file, at, 1)) != 0) at += 1 + std::size_t{block};
  return at + 1;
}

GifFrame gif_frame_at(Bytes file, std::size_t at) {
  const Shape screen = gif_screen(file);
  const bool is_first = at == global_gif_table(file).end();
  const char* const the_frame = is_first ? "the first frame" : "the frame";
  GifFrame frame;
  while (little_endian(file, at, 1) == kGifExtension) {
    if (little_endian(file, at + 1, 1) == kGifGraphicControl && little_endian(file, at + 2, 1) >= 4) {
      const std::uint32_t flags = little_endian(file, at + 3, 1);
      frame.transparent = (flags & 1) != 0 ? static_cast<int>(little_endian(file, at + 6, 1)) : -1;
      frame.disposal = disposal_of(flags);
      frame.delay = little_endian(file, at + 4, 2);
    }
    at = skip_gif_sub_blocks(file, at + 2);
    if (!is_first) at = skip_gif_zeros(file, at);
  }
  require_gif(at < file.size(), "the file is truncated");
  require_gif(little_endian(file, at, 1) == kGifImage, "no image in the file");
  require_gif(at + 10 <= file.size(), "the file is truncated");
  frame.x = little_endian(file, at + 1, 2);
  frame.y = little_endian(file, at + 3, 2);
  frame.width = little_endian(file, at + 5, 2);
  frame.height = little_endian(file, at + 7, 2);
  require_gif(frame.width > 0 && frame.height > 0, the_frame, " has no pixels");
  require_gif(frame.x + frame.width <= screen.width && frame.y + frame.height <= screen.height, the_frame,
              " exceeds the image");
  const std::uint32_t flags = little_endian(file, at + 9, 1);
  frame.interlaced = (flags & 0x40) != 0;
  const GifColorTable local = color_table(at + 10, flags);
  frame.table = local.colors > 0 ? local : global_gif_table(file);
  require_gif(frame.table.colors > 0, the_frame, " has no colour table");
  frame.data = local.end();
  require_gif(frame.data < file.size(), "the file is truncated");
  return frame;
}

GifFrame first_gif_frame(Bytes file) {
  (void)gif_screen(file);
  return gif_frame_at(file, global_gif_table(file).end());
}

std::size_t end_of_gif_block(Bytes file, std::size_t at) {
  const std::uint32_t block = little_endian(file, at, 1);
  if (block == 0) return at + 1;
  if (block == kGifExtension) return skip_gif_sub_blocks(file, at + 2);
  if (block != kGifImage || at + 10 > file.size()) return 0;
  return skip_gif_sub_blocks(file, color_table(at + 10, little_endian(file, at + 9, 1)).end() + 1);
}

GifBlocks walk_gif_blocks(Bytes file, std::size_t at) {
  GifBlocks blocks{.end = at};
  for (; at < file.size(); blocks.end = at) {
    const std::uint32_t block = little_endian(file, at, 1);
    const std::size_t end = end_of_gif_block(file, at);
    if (end == 0) {
      blocks.end = block == kGifTrailer ? at + 1 : at;
      return blocks;
    }
    if (block == kGifImage) ++blocks.images;
    at = end;
  }
  return blocks;
}

}  // namespace imgpipe
