// A PNG as libpng is to see it where damage is let pass: it takes IDAT data 8 KiB at a time and gives nothing
// of a piece that is cut off or fails its CRC. The same data in small chunks with fresh CRCs loses little.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace imgpipe {

class PngSmallIdats {
 public:
  // `file` stays where it is; nothing of it is copied but the chunk in hand.
  explicit PngSmallIdats(std::span<const std::byte> file);
  PngSmallIdats(const PngSmallIdats&) = delete;
  PngSmallIdats& operator=(const PngSmallIdats&) = delete;

  // Fills `out` with the next bytes; false where there are not so many.
  [[nodiscard]] bool read(std::span<std::byte> out);

 private:
  static constexpr std::size_t kPieceBytes = 64;

  bool next_part();
  void make_piece();

  std::span<const std::byte> file_;
  std::size_t at_;                        // of the next chunk in the file
  std::span<const std::byte> idat_left_;  // data of the chunk before it
  std::span<const std::byte> part_;       // given next: of the file, or of piece_
  std::array<std::byte, kPieceBytes + 12> piece_{};
};

// How many IDAT chunks of a PNG have the wrong CRC.
[[nodiscard]] std::int64_t wrong_idat_crcs(std::span<const std::byte> file);

}  // namespace imgpipe
