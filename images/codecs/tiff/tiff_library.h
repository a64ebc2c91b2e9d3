// What libtiff unpacks: LZW, JPEG and CCITT. It never sees the file. For each kind of chunk it is given a
// small directory that is made here from what was judged, and then the data of one chunk after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "images/codecs/tiff/tiff_page.h"

namespace imgpipe {

[[nodiscard]] bool is_for_libtiff(TiffCompression compression);

// By one thread at a time.
class TiffLibrary {
 public:
  // `page` outlives it.
  TiffLibrary(const TiffPage& page, bool lenient);
  ~TiffLibrary();
  TiffLibrary(const TiffLibrary&) = delete;
  TiffLibrary& operator=(const TiffLibrary&) = delete;

  // The most that the library takes, from malloc().
  [[nodiscard]] static std::int64_t library_bytes(const TiffPage& page);

  // Unpacks a chunk of `rows` rows, all of `out`. `data` is not empty; with the bits in the usual order.
  // Throws Error(input), Error(memory); a warning of the library's is an error too, unless lenient: then
  // take_warning() gives it.
  void unpack(std::span<const std::byte> data, std::int64_t rows, std::span<std::byte> out);
  [[nodiscard]] std::string take_warning() { return std::exchange(warning_, {}); }

 private:
  struct Handle;

  const TiffPage& page_;
  bool lenient_;
  std::string warning_;
  std::unique_ptr<Handle> handle_;  // for chunks like the last one
};

// "libtiff 4.5.0".
[[nodiscard]] std::string libtiff_version();

}  // namespace imgpipe
