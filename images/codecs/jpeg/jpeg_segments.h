// The marker segments of a JPEG's header, and what may follow its end (ITU-T T.81, annex B).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace imgpipe {

// Codes of markers (T.81, table B.1).
inline constexpr unsigned kFirstRestart = 0xD0, kStartOfImage = 0xD8, kEndOfImage = 0xD9;
// Real files have hundreds at the most.
inline constexpr std::size_t kMostSegments = 65'536;

// The spans are of the file.
struct JpegFacts {
  std::span<const std::byte> exif;                // the TIFF structure of the first Exif segment; else empty
  std::optional<std::vector<std::byte>> profile;  // ICC, joined of its segments as far as they are there
  bool multi_picture = false;                     // an MPF segment: more pictures follow this one
  std::span<const std::byte> picture_index;       // the TIFF structure of the first such segment
  std::int64_t width = 0, height = 0;             // of the frame header; 0 where there is none yet
  std::span<const std::byte> frame;               // payload of the first frame header
  unsigned frame_marker = 0;                      // its code: 0xC0 baseline, 0xC2 progressive, ...
  std::optional<unsigned> adobe_transform;        // of an APP14 segment: 0 none, 1 YCbCr, 2 YCCK
  bool jfif = false;                              // there is such a segment, whose colours are YCbCr
  std::int64_t restart_interval = 0;              // MCUs; 0: none
  // Behind the header of the first scan, or the end marker; 0: neither is here.
  std::size_t header_end = 0;
};

// Walks the segments up to the first scan, or to where the file ends or is damaged, in time that grows with
// its length. Throws Error(input) for more than kMostSegments: libjpeg, which walks them too, takes more time
// for each.
[[nodiscard]] JpegFacts read_jpeg_facts(std::span<const std::byte> file);

// What is left without the bytes in front that no one misses: zeros, 0xFF and white space, with which cameras
// pad their files.
[[nodiscard]] std::span<const std::byte> without_padding(std::span<const std::byte> bytes);

// What cameras and phones write behind the end of a picture: further pictures that an MPF segment announces
// (CIPA DC-007: previews, stereo pairs, gain maps), the film of a Motion Photo (an MP4 'ftyp' box), Samsung's
// trailer (it ends in SEFT). `behind` is without_padding().
[[nodiscard]] bool is_known_appendix(std::span<const std::byte> behind, const JpegFacts& facts);

}  // namespace imgpipe
