// Presents a PNG to libpng with its IDAT data in small chunks with new CRCs, for --lenient. libpng takes 8
// KiB of a chunk at a time and discards all 8 KiB if the chunk is cut off or fails its CRC check; with small
// chunks little is lost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace imgpipe {

class SmallIdatSource {
 public:
  // `file` must outlive this object; only the current chunk is copied.
  explicit SmallIdatSource(std::span<const std::byte> file);
  SmallIdatSource(const SmallIdatSource&) = delete;
  SmallIdatSource& operator=(const SmallIdatSource&) = delete;

  // Fills `out` with the next bytes; returns false if fewer are left.
  [[nodiscard]] bool read(std::span<std::byte> out);

 private:
  static constexpr std::size_t kDataBytes = 64;

  bool next_part();
  void make_small_chunk();

  std::span<const std::byte> file_;
  std::size_t at_;                        // offset of the next chunk in the file
  std::span<const std::byte> idat_left_;  // remaining data of the last IDAT chunk before at_
  std::span<const std::byte> part_;       // to be read next: in the file or in piece_
  std::array<std::byte, kDataBytes + 12> piece_{};
};

// Counts the IDAT chunks with a wrong CRC.
[[nodiscard]] std::int64_t count_wrong_idat_crcs(std::span<const std::byte> file);

}  // namespace imgpipe
