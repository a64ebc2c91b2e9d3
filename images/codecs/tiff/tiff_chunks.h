// Unpacks the chunks of a TIFF's page, cell by cell, into rows of pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "images/codecs/tiff/tiff_page.h"
#include "images/codecs/tiff/tiff_rows.h"

namespace imgpipe {

class ZlibInflater;

// What was let pass.
struct TiffDamage {
  std::int64_t chunks = 0;  // that could not be unpacked whole
  std::size_t lowest = 0;   // of them
  std::string reason;       // why not, of that one

  void add(const TiffDamage& more) {
    if (more.chunks > 0 && (chunks == 0 || more.lowest < lowest)) {
      lowest = more.lowest;
      reason = more.reason;
    }
    chunks += more.chunks;
  }
};

// What one thread needs to unpack.
class TiffChunks {
 public:
  // All outlive it.
  TiffChunks(Bytes file, const TiffPage& page, const TiffRows& rows, bool lenient);
  ~TiffChunks();
  TiffChunks(const TiffChunks&) = delete;
  TiffChunks& operator=(const TiffChunks&) = delete;

  // The most that one holds, and what of that libraries take from malloc(). Looks at the counts of all chunks
  // where bits are reversed.
  [[nodiscard]] static std::int64_t working_bytes(Bytes file, const TiffPage& page);
  [[nodiscard]] static std::int64_t library_bytes(const TiffPage& page);

  // Fills `out` with the pixels of a cell, as far as they are in the image. Throws Error(input),
  // Error(memory); lenient: what could not be unpacked becomes mid-grey.
  void give_cell(std::int64_t cell_row, std::int64_t column, HostView out, TiffDamage& damage);
  // Where nothing is packed: rows of the image, from `first` on. What is missing plain_damage() tells.
  void give_rows(std::int64_t first, HostView out);
  [[nodiscard]] TiffDamage plain_damage() const;

 private:
  struct Unpackers;

  [[nodiscard]] std::string too_few() const {
    return page_.tiled ? "a tile has too few pixels" : "a strip has too few pixels";
  }
  [[nodiscard]] std::int64_t unpack(std::size_t chunk, std::int64_t rows, std::span<std::byte> out,
                                    TiffDamage& damage);
  [[nodiscard]] std::size_t unpack_bytes(Bytes data, std::int64_t rows, std::span<std::byte> out);
  [[nodiscard]] std::size_t inflate(Bytes data, std::span<std::byte> out);
  void read_over(ZlibInflater& inflater, Bytes data);
  [[nodiscard]] std::size_t unpack_zstd(Bytes data, std::span<std::byte> out);

  Bytes file_;
  const TiffPage& page_;
  const TiffRows& rows_;
  bool lenient_;
  std::string fault_;              // of the chunk in hand, lenient
  std::vector<std::byte> raw_;     // the chunks of a cell, unpacked
  std::vector<std::byte> turned_;  // a chunk's data with its bits in the usual order
  std::vector<std::uint16_t> line_;
  std::unique_ptr<Unpackers> unpackers_;
};

// Whether rows can be taken from where they lie in the file.
[[nodiscard]] bool lies_plain(const TiffPage& page);

}  // namespace imgpipe
