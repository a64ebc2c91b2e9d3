// JPEGs of every kind from a description that a seed gives, made by libjpeg-turbo: from pixels, and from
// coefficients that no picture has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iosfwd>
#include <string>
#include <vector>

#include <jpeglib.h>

namespace imgpipe::test {

enum class JpegContent {
  photo,
  noise,
  saturated,  // every sample 0 or 255
  constant,
  gradient,
  tiles,  // the same 16x16 samples of noise again and again
  // Of coefficients:
  extreme,  // the largest that there are, so that dequantised ones leave 16 bits
  sparse,   // most blocks empty, some with a single coefficient far behind
  dense,    // every coefficient large, and most bits of the file ones
};

enum class JpegCoding { huffman, progressive, arithmetic };

struct JpegFactors {
  int across = 1, down = 1;
  bool operator==(const JpegFactors&) const = default;
};

struct MadeJpeg {
  std::int64_t width = 1, height = 1;
  J_COLOR_SPACE stored = JCS_YCbCr;
  std::array<JpegFactors, 4> factors{};  // by component
  JpegCoding coding = JpegCoding::huffman;
  bool scan_each = false;  // one component a scan
  int quality = 75;
  // Quantisers of so many hundredths of the standard's, 16 bits each; 0: by quality. Of pixels at most 6,700:
  // libjpeg-turbo's encoder divides by zero beyond.
  int step_percent = 0;
  int restart_mcus = 0, restart_rows = 0;
  bool optimised = false;
  bool one_table = false;  // the same Huffman and quantiser tables for all components
  JpegContent content = JpegContent::photo;
  std::uint64_t seed = 1;

  [[nodiscard]] int components() const;
  // Whether our own decoder has to take it: grey or YCbCr in one scan of Huffman codes, sampled 4:4:4, 4:2:2,
  // 4:2:0 or 4:4:0 and written so as everybody does.
  [[nodiscard]] bool is_plain() const;
};

// What the seed says: 1 to 70 pixels each way.
[[nodiscard]] MadeJpeg random_jpeg(std::uint64_t seed);
[[nodiscard]] std::vector<std::byte> make_jpeg(const MadeJpeg& jpeg);
// For messages.
[[nodiscard]] std::string description(const MadeJpeg& jpeg);
void PrintTo(const MadeJpeg& jpeg, std::ostream* out);

}  // namespace imgpipe::test
