// JPEGs of every kind, described by a seed and made by libjpeg-turbo, from pixels or unnatural coefficients.
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
  tiles,  // the same 16x16 noise samples, repeated
  // From coefficients:
  extreme,  // the largest possible ones, so that dequantised ones exceed 16 bits
  sparse,   // most blocks empty, some with a single high-frequency coefficient
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
  bool scan_each = false;  // one component per scan
  int quality = 75;
  // Quantisers in hundredths of the standard's, 16 bits each; 0: by quality. At most 6,700 for pixels: beyond
  // that, libjpeg-turbo's encoder divides by zero.
  int step_percent = 0;
  int restart_mcus = 0, restart_rows = 0;
  bool optimised = false;
  bool one_table = false;  // all components share Huffman and quantiser tables
  JpegContent content = JpegContent::photo;
  std::uint64_t seed = 1;

  [[nodiscard]] int components() const;
  // Whether our own decoder must accept it: grey or YCbCr in one scan with Huffman codes, sampled 4:4:4,
  // 4:2:2, 4:2:0 or 4:4:0 and written in the usual form.
  [[nodiscard]] bool is_plain() const;
};

// Describes a JPEG from the seed, with sides of 1 to 70 pixels.
[[nodiscard]] MadeJpeg random_jpeg(std::uint64_t seed);
[[nodiscard]] std::vector<std::byte> make_jpeg(const MadeJpeg& jpeg);
[[nodiscard]] std::string description(const MadeJpeg& jpeg);
void PrintTo(const MadeJpeg& jpeg, std::ostream* out);

}  // namespace imgpipe::test
