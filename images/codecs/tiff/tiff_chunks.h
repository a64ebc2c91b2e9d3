// Decompresses the chunks of a TIFF page, cell by cell, into rows of pixels.
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

// Tolerated damage.
struct TiffDamage {
  std::int64_t chunks = 0;  // number of chunks that could not be decompressed completely
  std::size_t lowest = 0;   // the lowest number of a damaged chunk
  std::string reason;       // the reason why that chunk is damaged

  void add(const TiffDamage& more) {
    if (more.chunks > 0 && (chunks == 0 || more.lowest < lowest)) {
      lowest = more.lowest;
      reason = more.reason;
    }
    chunks += more.chunks;
  }
};

// The decompression state of one thread.
class TiffChunks {
 public:
  // All arguments must outlive it.
  TiffChunks(Bytes file, const TiffPage& page, const TiffRows& rows, bool lenient);
  ~TiffChunks();
  TiffChunks(const TiffChunks&) = delete;
  TiffChunks& operator=(const TiffChunks&) = delete;

  // The maximum memory of one object, and the part that libraries allocate with malloc(). May read the byte
  // counts of all chunks.
  [[nodiscard]] static std::int64_t working_bytes(Bytes file, const TiffPage& page);
  [[nodiscard]] static std::int64_t library_bytes(const TiffPage& page);

  // Fills `out` with the pixels of a cell, clipped to the image. Throws Error(input), Error(memory); lenient:
  // pixels that could not be decompressed become mid-grey.
  void decode_cell(std::int64_t cell_row, std::int64_t column, HostView out, TiffDamage& damage);
  // For uncompressed pages: fills `out` with rows from `first` on. plain_damage() reports missing rows.
  void decode_rows(std::int64_t first, HostView out);
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
  void read_to_stream_end(ZlibInflater& inflater, Bytes data);
  [[nodiscard]] std::size_t unpack_zstd(Bytes data, std::span<std::byte> out);

  Bytes file_;
  const TiffPage& page_;
  const TiffRows& rows_;
  bool lenient_;
  std::string fault_;              // error of the current chunk, if lenient
  std::vector<std::byte> raw_;     // the decompressed chunks of a cell
  std::vector<std::byte> turned_;  // a chunk's data with its bits in standard order
  std::vector<std::uint16_t> line_;
  std::unique_ptr<Unpackers> unpackers_;
};

// Whether rows can be read directly from the file.
[[nodiscard]] bool is_stored_uncompressed(const TiffPage& page);

}  // namespace imgpipe
