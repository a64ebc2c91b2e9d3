// The blocks of a GIF (GIF89a, CompuServe 1990, sections 18 to 27).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "images/codecs/animation_frame.h"
#include "images/codecs/codec_parts.h"

namespace imgpipe {

inline constexpr std::uint32_t kGifExtension = 0x21, kGifImage = 0x2C, kGifTrailer = 0x3B;
inline constexpr std::uint32_t kGifGraphicControl = 0xF9;

// A global or local colour table (sections 19, 21).
struct GifColorTable {
  std::size_t at = 0;
  std::uint32_t colors = 0;  // 0: no table

  [[nodiscard]] std::size_t end() const { return at + std::size_t{3} * colors; }
};
[[nodiscard]] GifColorTable global_gif_table(Bytes file);

struct GifFrame {
  std::int64_t x = 0, y = 0, width = 0, height = 0;
  bool interlaced = false;
  int transparent = -1;  // index; -1: none
  AnimationFrame::Disposal disposal = AnimationFrame::Disposal::keep;
  std::uint32_t delay = 0;  // 1/100 s
  GifColorTable table;
  std::size_t data = 0;  // offset of the minimum code size, followed by sub-blocks
};

// The size of the logical screen, with alpha. Throws Error(input) if the file is shorter than its header.
[[nodiscard]] Shape gif_screen(Bytes file);

// Returns the offset just past the sub-blocks at `at` and their terminator; beyond the file if it is missing.
[[nodiscard]] std::size_t skip_gif_sub_blocks(Bytes file, std::size_t at);

// Reads the blocks from `at` up to an image descriptor and its colour table; of several graphic control
// extensions, the last one applies. Throws Error(input) unless an image within the screen follows.
[[nodiscard]] GifFrame gif_frame_at(Bytes file, std::size_t at);
[[nodiscard]] GifFrame first_gif_frame(Bytes file);

// Returns the offset just past the block at `at`, which may be beyond a truncated file; 0 for the trailer or
// an invalid block. Zeros between blocks are common; each counts as a block.
[[nodiscard]] std::size_t end_of_gif_block(Bytes file, std::size_t at);

// The number of images from an offset on, and the end of the blocks: just past the trailer, or at an invalid
// block.
struct GifBlocks {
  std::int64_t images = 0;
  std::size_t end = 0;
};
[[nodiscard]] GifBlocks walk_gif_blocks(Bytes file, std::size_t at);

// Opens a frame alone, with alpha.
[[nodiscard]] std::unique_ptr<Reader> open_gif_frame(Bytes file, GifFrame frame,
                                                     const DecodeOptions& options);

}  // namespace imgpipe
