// Reads one JPEG with our own decoder and with libjpeg-turbo, and compares the results.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "images/codecs/codec.h"
#include "images/image.h"

namespace imgpipe::test {

// How rows are requested.
struct Reading {
  std::int64_t rows = 0;             // per call; 0: all
  int threads = 0;                   // number of threads that read bands; 0: read_rows()
  std::int64_t common = 0;           // rows that a band shares with the previous one
  bool backwards = false;            // one thread begins three bands and reads the last one first
  std::size_t scan_chunk_bytes = 0;  // of our own decoder, for make_baseline_reader(); 0: the default
};
[[nodiscard]] std::string text_of(const Reading& reading);

struct JpegOutcome {
  ImageHeader header;
  Image image;
  std::vector<std::string> warnings;
  std::string decoder, last_decoder;  // Reader::decoder() after opening, and after the last row
  bool has_bands = false;
  bool opened = false;
  std::string reason;  // why reading failed, without an image
};

// Uses bands only if the reader has them, else rows.
[[nodiscard]] JpegOutcome read_jpeg(std::span<const std::byte> file, const DecodeOptions& options,
                                    const Reading& reading = {});

// Returns "" if verdict, message, header, warnings and pixels are the same.
[[nodiscard]] std::string difference(const JpegOutcome& expected, const JpegOutcome& got);

inline constexpr std::array kEveryAcceptance{Acceptance::strict, Acceptance::lenient, Acceptance::pillow};
[[nodiscard]] std::string_view text_of(Acceptance accept);
[[nodiscard]] DecodeOptions jpeg_options(CodecChoice codec, Acceptance accept, std::int64_t max_pixels);

}  // namespace imgpipe::test
