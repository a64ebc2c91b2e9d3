// The marker segments of a JPEG's header, and the data that may follow its end (ITU-T T.81, annex B).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace imgpipe {

// T.81, table B.1.
inline constexpr unsigned kFirstRestart = 0xD0, kStartOfImage = 0xD8, kEndOfImage = 0xD9, kStartOfScan = 0xDA;
// Real files have hundreds at most.
inline constexpr std::size_t kMaxSegments = 65'536;

// The spans point into the file.
struct JpegFacts {
  std::span<const std::byte> exif;                 // the TIFF structure of the first Exif segment
  std::optional<std::vector<std::byte>> profile;   // ICC, joined from the segments present
  bool multi_picture = false;                      // an MPF segment: more images follow this one
  std::span<const std::byte> multi_picture_index;  // the TIFF structure of the first MPF segment
  std::int64_t width = 0, height = 0;              // from the frame header; 0: none yet
  std::span<const std::byte> frame;                // payload of the first frame header
  unsigned frame_marker = 0;                       // its code: 0xC0 baseline, 0xC2 progressive, ...
  std::optional<unsigned> adobe_transform;         // from an APP14 segment: 0 none, 1 YCbCr, 2 YCCK
  bool jfif = false;                               // has a JFIF segment: the colours are YCbCr
  std::int64_t restart_interval = 0;               // MCUs; 0: none
  // Offset just past the first scan header or the end marker; 0 if neither is in this block.
  std::size_t header_end = 0;
};

// Walks the segments, in linear time, up to the first scan, damage, or the end of the file. Throws
// Error(input) for more than kMaxSegments: libjpeg walks them too, and each one makes it slower.
[[nodiscard]] JpegFacts read_jpeg_facts(std::span<const std::byte> file);

// Skips leading bytes with which cameras pad their files: zeros, 0xFF and white space.
[[nodiscard]] std::span<const std::byte> without_padding(std::span<const std::byte> bytes);

// Returns whether the bytes after the end marker and padding are data that cameras append: further images of
// an MPF segment (CIPA DC-007: previews, stereo pairs, gain maps), the video of a Motion Photo (an MP4 'ftyp'
// box), or Samsung's trailer (ends in SEFT).
[[nodiscard]] bool is_known_trailer(std::span<const std::byte> after, const JpegFacts& facts);

}  // namespace imgpipe
