// The chunks of a PNG as Pillow 13.0.0 walks them (PngImagePlugin). A chunk before the pixels must be
// complete, with a correct CRC; a chunk after them must be complete if Pillow can read its header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace imgpipe {

// The part of the image that the pixels fill: all of it, or the first frame of an APNG.
struct PillowPngFrame {
  std::int64_t left = 0, top = 0, width = 0, height = 0;
};

struct PillowPngHeader {
  std::int64_t width = 0, height = 0;
  int depth = 0, color_type = 0;  // 0, 0: no valid pair yet
  bool interlaced = false;
  std::span<const std::byte> palette;
  std::span<const std::byte> transparency;  // tRNS; empty: none that counts
  PillowPngFrame frame;
  bool of_animation = false;  // a chunk of a frame precedes the pixels, or holds them
};

class PillowPngChunks {
 public:
  // Reads everything before the pixels. Throws Error(input) where Pillow rejects the file.
  explicit PillowPngChunks(std::span<const std::byte> file);

  [[nodiscard]] const PillowPngHeader& header() const noexcept { return header_; }
  // Returns the next block of compressed pixels, as much as Pillow decodes at a time. Throws Error(input) at
  // their end.
  [[nodiscard]] std::span<const std::byte> next_pixels();
  // Reads the chunks after the pixels. Returns false if the file ends without IEND. Throws Error(input).
  bool read_end();

 private:
  using Bytes = std::span<const std::byte>;
  struct Chunk {
    Bytes type;
    std::size_t length = 0;
  };

  [[nodiscard]] std::optional<Chunk> next_chunk();
  [[nodiscard]] bool begins_pixels(const Chunk& chunk);
  [[nodiscard]] Bytes take(std::size_t length);
  void skip(std::size_t length);
  void read_chunk(const Chunk& chunk);
  void read_header(Bytes data);
  void read_transparency(Bytes data);
  void read_animation(Bytes data);
  void read_frame(Bytes data);
  void count_sequence(std::uint32_t number);
  void check_profile(Bytes data) const;
  void read_text(Bytes type, Bytes data);
  void check_palette() const;

  Bytes file_;
  std::size_t at_ = 0;
  PillowPngHeader header_;
  std::size_t pixels_left_ = 0;  // of the current chunk
  std::optional<std::uint32_t> frames_, sequence_;
  std::optional<PillowPngFrame> frame_;
  bool has_palette_ = false;
  bool lacks_palette_ = false;  // at the pixels
  bool default_image_ = false;  // the pixels precede the first frame
  bool animated_ = false;
  std::size_t text_size_ = 0;
};

}  // namespace imgpipe
