// JPEGs written code by code, as no encoder writes them but as the standard or libjpeg-turbo allows: any
// Huffman codes, any coefficients, any order of the segments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace imgpipe::test {

// What is odd in a file; everything else is plain baseline or extended sequential JPEG with codes of its own.
struct CodedTraits {
  bool beyond_block = false;   // runs that end behind the last place of a block
  bool odd_ends = false;       // ends of blocks by codes of no meaning in baseline, and by runs of 16 zeros
  bool large_values = false;   // AC of 11 to 15 bits, DC differences of 12 to 15
  bool zero_padding = false;   // zeros in place of ones in the last byte
  bool fill_bytes = false;     // FFs before markers
  bool spare_bytes = false;    // bytes of no use before markers
  bool wrong_restart = false;  // one restart marker has the wrong number
  bool no_end = false;         // the end marker is missing
  bool all_ones = false;       // a Huffman code of ones alone
  bool extra_blocks = false;   // more codes than blocks, before the end
  [[nodiscard]] bool none() const;
};

struct CodedJpeg {
  std::vector<std::byte> file;
  CodedTraits traits;
};

// What the seed says: 1 to 70 pixels each way, grey, 4:4:4, 4:2:2, 4:2:0 or 4:4:0. Half of them have no
// traits.
[[nodiscard]] CodedJpeg random_coded_jpeg(std::uint64_t seed);

}  // namespace imgpipe::test
