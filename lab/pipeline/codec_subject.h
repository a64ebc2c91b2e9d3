// What the codecs' ladders work on, with the right answers. libjpeg-turbo and the program's own writers,
// which the tests hold against other libraries, say what is right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "images/codecs/jpeg/jpeg_scan.h"
#include "images/codecs/jpeg/staged_scan.h"
#include "images/image.h"
#include "lab/kernels/codec_rung.h"
#include "lab/pipeline/codec_strip.h"

namespace imgpipe {

// What --stage calls them.
inline constexpr std::string_view kJpegLadders = "jpeg";
inline constexpr std::string_view kPngLadder = "png";

struct CodecSubject {
  // Decoding; of the PNG ladder without these three.
  std::vector<std::byte> file;
  JpegScan jpeg;                           // of `file`
  std::vector<std::int16_t> coefficients;  // as EntropyTask has them

  // The picture: what the file holds, what `gray` makes of it, its histogram.
  Image pixels, grey;
  std::vector<std::uint64_t> counts;

  // Encoding: the files' entropy-coded data, the files' sizes; strips.
  std::vector<std::byte> grey_scan, color_scan;
  std::size_t grey_file_bytes = 0, color_file_bytes = 0;
  std::vector<RightStrip> grey_strips, pixel_strips;
  std::int64_t grey_strip_rows = 1, pixel_strip_rows = 1;

  [[nodiscard]] const Image& picture(CodecPixels which) const {
    return which == CodecPixels::grey && !grey.empty() ? grey : pixels;
  }
  [[nodiscard]] std::size_t stream_bytes() const { return file.size(); }
};

// A group: the same subject so many times.
struct CodecGroup {
  std::shared_ptr<const CodecSubject> subject;
  std::size_t images = 8;
};

inline constexpr int kLabQuality = 90;

// Of a JPEG that the program's own decoder takes. Throws Error(input) for others.
[[nodiscard]] std::shared_ptr<const CodecSubject> make_jpeg_subject(std::vector<std::byte> file);
// Of an image of 1 or 3 channels: to be packed.
[[nodiscard]] std::shared_ptr<const CodecSubject> make_png_subject(Image image);

// A file of an image, as `imgpipe` writes it at kLabQuality.
[[nodiscard]] std::vector<std::byte> jpeg_of(const Image& image);

// The entropy-coded data of a JPEG, without the end marker. `file`: of the program's own decoder.
[[nodiscard]] std::span<const std::byte> coded_data(std::span<const std::byte> file);

// Blocks of a list to coefficients as EntropyTask has them, from block `first` of the scan on.
struct TrueBlocks;
void expand_blocks(const BaselineScan& scan, const TrueBlocks& blocks, std::int16_t* coefficients);

}  // namespace imgpipe
