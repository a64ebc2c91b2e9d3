// One JPEG by our own decoder and by libjpeg-turbo, and what the two say differently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "images/codecs/codec.h"
#include "images/image.h"

namespace imgpipe::test {

// How the rows are asked for.
struct Reading {
  std::int64_t rows = 0;        // at a time; 0: all
  int threads = 0;              // in bands from so many; 0: by read_rows()
  std::int64_t common = 0;      // rows that a band has in common with the one before
  bool backwards = false;       // one thread that begins three bands and reads the last one first
  std::size_t piece_bytes = 0;  // of our own decoder, as make_baseline_reader() takes it; 0: as usual
};
[[nodiscard]] std::string text_of(const Reading& reading);

struct JpegOutcome {
  ImageHeader header;
  Image image;
  std::vector<std::string> warnings;
  std::string decoder, last_decoder;  // Reader::decoder() when it was opened, and behind the last row
  bool has_bands = false;
  bool opened = false;
  std::string reason;  // why not; then there is no image
};

// Bands only where the reader has them: else by rows.
[[nodiscard]] JpegOutcome read_jpeg(std::span<const std::byte> file, const DecodeOptions& options,
                                    const Reading& reading = {});

// "" where verdict, message, header, warnings and pixels are the same.
[[nodiscard]] std::string difference(const JpegOutcome& expected, const JpegOutcome& got);

[[nodiscard]] DecodeOptions jpeg_options(CodecChoice codec, bool lenient, std::int64_t max_pixels);

}  // namespace imgpipe::test
