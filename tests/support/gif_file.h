// GIF files with one frame, byte by byte.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <vector>

namespace imgpipe::test {

using Indices = std::vector<int>;

struct LzwChoice {
  int bits = 2;  // minimum code size
  bool leading_clear = true;
  bool clear_when_full = true;  // else the encoder goes on with the 4096 codes that it has
  bool end_code = true;
};

// Codes, each a number and its width in bits, packed into sub-blocks.
class CodeSink {
 public:
  void code(int value, int width);
  [[nodiscard]] std::vector<std::byte> sub_blocks();

 private:
  std::vector<std::byte> bytes_;
  unsigned bits_ = 0;
  int count_ = 0;
};

struct Gif {
  int width = 0, height = 0;  // of the screen
  int x = 0, y = 0, frame_width = -1, frame_height = -1;
  int bits = 2;  // of the colour table
  bool local = false;
  int background = 0;
  int transparent = -1;
  bool interlaced = false;
};

// The colour of an index, the same in every table here.
[[nodiscard]] int color(int index, int channel);

// Bytes at the end of a file.
void put(std::vector<std::byte>& file, std::initializer_list<int> values);

// Everything before the minimum code size.
[[nodiscard]] std::vector<std::byte> gif_head(const Gif& gif);
// The same with the picture's data behind it, and no trailer.
[[nodiscard]] std::vector<std::byte> with_data(std::vector<std::byte> head, int minimum_bits,
                                               const std::vector<std::byte>& sub_blocks);
[[nodiscard]] std::vector<std::byte> make_gif(const Gif& gif, const Indices& pixels, const LzwChoice& choice);

}  // namespace imgpipe::test
