// JPEGs composed code by code, as no encoder writes them but the standard or libjpeg-turbo allows: any
// Huffman codes, coefficients and order of segments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace imgpipe::test {

// The oddities of a file, which is otherwise plain baseline or extended sequential JPEG with its own codes.
struct CodedTraits {
  bool beyond_block = false;   // runs that end after a block's last coefficient
  bool odd_ends = false;       // blocks that end with codes unknown to baseline, or with runs of 16 zeros
  bool large_values = false;   // AC of 11 to 15 bits, DC differences of 12 to 15
  bool zero_padding = false;   // zeros instead of ones in the last byte
  bool fill_bytes = false;     // 0xFF bytes before markers
  bool spare_bytes = false;    // useless bytes before markers
  bool wrong_restart = false;  // one restart marker has the wrong number
  bool no_end = false;         // the end marker is missing
  bool all_ones = false;       // a Huffman code of ones only
  bool extra_blocks = false;   // more codes than blocks, before the end
  [[nodiscard]] bool none() const;
};

struct CodedJpeg {
  std::vector<std::byte> file;
  CodedTraits traits;
};

// Makes a JPEG with sides of 1 to 70 pixels, grey, 4:4:4, 4:2:2, 4:2:0 or 4:4:0. Half have no traits.
[[nodiscard]] CodedJpeg random_coded_jpeg(std::uint64_t seed);

}  // namespace imgpipe::test
