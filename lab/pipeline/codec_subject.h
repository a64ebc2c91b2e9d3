// The input of the codecs' ladders and the expected results. These come from libjpeg-turbo and the program's
// own writers, which the tests compare with other libraries.
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
#include "lab/kernels/codec_variant.h"
#include "lab/pipeline/codec_strip.h"

namespace imgpipe {

// Values of --stage.
inline constexpr std::string_view kJpegLadders = "jpeg";
inline constexpr std::string_view kPngLadder = "png";

struct CodecSubject {
  // For decoding; empty in the PNG ladder.
  std::vector<std::byte> file;
  JpegScan jpeg;                           // of `file`
  std::vector<std::int16_t> coefficients;  // in EntropyTask's order

  // The image: the file's pixels, the result of `gray`, and its histogram.
  Image pixels, grey;
  std::vector<std::uint64_t> counts;

  // For encoding: entropy-coded data and file sizes of the JPEGs; strips of the PNGs.
  std::vector<std::byte> grey_scan, color_scan;
  std::size_t grey_file_bytes = 0, color_file_bytes = 0;
  std::vector<ExpectedStrip> grey_strips, pixel_strips;
  std::int64_t grey_strip_rows = 1, pixel_strip_rows = 1;

  [[nodiscard]] const Image& picture(CodecPixels which) const {
    return which == CodecPixels::grey && !grey.empty() ? grey : pixels;
  }
  [[nodiscard]] std::size_t stream_bytes() const { return file.size(); }
};

// Several copies of one subject.
struct CodecGroup {
  std::shared_ptr<const CodecSubject> subject;
  std::size_t images = 8;
};

inline constexpr int kLabQuality = 90;

// Takes a JPEG that the program's own decoder accepts; throws Error(input) for others.
[[nodiscard]] std::shared_ptr<const CodecSubject> make_jpeg_subject(std::vector<std::byte> file);
// Takes an image of 1 or 3 channels, to be packed.
[[nodiscard]] std::shared_ptr<const CodecSubject> make_png_subject(Image image);

// Encodes an image as `imgpipe` does at kLabQuality.
[[nodiscard]] std::vector<std::byte> jpeg_of(const Image& image);

// Returns the entropy-coded data of a JPEG that our own decoder accepts, without the end marker.
[[nodiscard]] std::span<const std::byte> coded_data(std::span<const std::byte> file);

// Writes the blocks to their positions in a scan's coefficients, in EntropyTask's order.
struct ConfirmedBlocks;
void expand_blocks(const BaselineScan& scan, const ConfirmedBlocks& blocks, std::int16_t* coefficients);

}  // namespace imgpipe
