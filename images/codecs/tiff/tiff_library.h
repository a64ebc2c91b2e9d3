// Decompresses LZW, JPEG and CCITT with libtiff, which never sees the file. For each kind of chunk it gets a
// small directory built from checked values, then the data of one chunk after the other.
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

// Not thread-safe.
class TiffLibrary {
 public:
  // `page` must outlive it.
  TiffLibrary(const TiffPage& page, bool lenient);
  ~TiffLibrary();
  TiffLibrary(const TiffLibrary&) = delete;
  TiffLibrary& operator=(const TiffLibrary&) = delete;

  // The maximum memory that libtiff allocates with malloc().
  [[nodiscard]] static std::int64_t library_bytes(const TiffPage& page);

  // Decompresses a chunk of `rows` rows into all of `out`. `data` must not be empty and must have its bits in
  // standard order. Throws Error(input), Error(memory), also for libtiff warnings unless lenient.
  void unpack(std::span<const std::byte> data, std::int64_t rows, std::span<std::byte> out);
  [[nodiscard]] std::string take_warning() { return std::exchange(warning_, {}); }

 private:
  struct Handle;

  const TiffPage& page_;
  bool lenient_;
  std::string warning_;
  std::unique_ptr<Handle> handle_;  // for chunks like the previous one
};

// "libtiff 4.5.0", or "libtiff, not installed".
[[nodiscard]] std::string libtiff_version();

}  // namespace imgpipe
