// The frames of an animation as pages (images/codecs/pages.h): each page is the whole canvas, as a player
// shows it while that frame is visible.
//
//   file, in memory --> AnimationCodec::frames: all headers, once
//                   --> AnimationCodec::open: the pixels of one frame's area
//                   --> canvas: dispose of the previous frame, draw this one --> a copy for the page's reader
//
// Consecutive pages cost one frame each. Any other order starts at the last frame that depends on no earlier
// one. One canvas is held, and the area of a frame that will be undone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "images/codecs/animation_frame.h"
#include "images/codecs/codec_parts.h"
#include "images/codecs/pages.h"

namespace imgpipe {

inline constexpr std::size_t kMaxFrames = std::size_t{1} << 20;

struct FrameList {
  std::vector<AnimationFrame> frames;  // at most kMaxFrames + 1; the first is the image of open_reader()
  std::string fault{};                 // why the list is incomplete; empty: it is complete
};

// The reader of one frame, and the bytes that it reads from if they are not in the animation's file.
struct OpenFrame {
  std::vector<std::byte> file{};
  std::unique_ptr<Reader> reader;
};

// Puts `pixels` RGBA pixels of 8 bits over those of the canvas.
using BlendRow = void (*)(const Sample8* from, std::int64_t pixels, Sample8* canvas);

// The functions of a format; `file` is one that open_reader() accepts.
struct AnimationCodec {
  FrameList (*frames)(Bytes file);
  // Opens a frame of the list without a fault. Its reader's rows have the frame's size and the canvas's
  // sample type. Throws Error(input) and Error(memory).
  OpenFrame (*open)(Bytes file, const AnimationFrame& frame, const DecodeOptions& options);
  // Returns a file that has all metadata for Codec::find_metadata, but no frames.
  std::vector<std::byte> (*metadata_file)(Bytes file);
  BlendRow blend = nullptr;  // nullptr: source over destination, exact, each value rounded once
};

// Opens the frames of an animation; nullptr if the file has one image. All pages have the same channels:
// with alpha if any frame may have transparent pixels. Throws Error(input) for an invalid file, a truncated
// list (lenient: returns the frames before that) and for more than kMaxFrames frames, Error(memory) if the
// file does not fit into memory.
[[nodiscard]] std::unique_ptr<Pages> open_animation(const InputFile& file, const DecodeOptions& options,
                                                    const AnimationCodec& codec);

}  // namespace imgpipe
