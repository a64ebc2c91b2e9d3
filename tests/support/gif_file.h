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
  bool clear_when_full = true;  // else the encoder continues with the 4096 codes that it has
  bool end_code = true;
};

// Packs codes, each a number and its width in bits, into sub-blocks.
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

// Returns the colour of an index, the same in every table here.
[[nodiscard]] int color(int index, int channel);

// Appends bytes to a file.
void put(std::vector<std::byte>& file, std::initializer_list<int> values);

// Returns everything before the minimum code size.
[[nodiscard]] std::vector<std::byte> gif_head(const Gif& gif);
// Appends the image data, without a trailer.
[[nodiscard]] std::vector<std::byte> with_data(std::vector<std::byte> head, int minimum_bits,
                                               const std::vector<std::byte>& sub_blocks);
[[nodiscard]] std::vector<std::byte> make_gif(const Gif& gif, const Indices& pixels, const LzwChoice& choice);

}  // namespace imgpipe::test
