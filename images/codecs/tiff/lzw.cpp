#include "images/codecs/tiff/lzw.h"

#include <limits>
#include <utility>

#include "images/codecs/tiff/tiff_functions.h"
#include "images/codecs/tiff/tiff_handle.h"
#include "images/error.h"

namespace imgpipe {

// libtiff writes a file with one strip, one byte wide; this function extracts the strip.
std::vector<std::byte> pack_lzw(std::span<const std::byte> data) {
  constexpr tmsize_t kBufferBytes = tmsize_t{64} << 10;
  constexpr std::int64_t kFrontBytes = 8;
  if (data.size() > std::numeric_limits<std::uint32_t>::max())
    throw Error(ErrorKind::usage, "LZW supports only strips and tiles of less than 4 GiB");
  std::vector<std::byte> file;
  file.reserve(static_cast<std::size_t>(kFrontBytes + max_lzw_bytes(std::ssize(data))));
  TiffHandle handle(std::move(file), "w");
  TIFF* const tiff = handle.get();
  const auto rows = static_cast<std::uint32_t>(data.size());
  // libtiff takes its input as non-const and modifies it only to swap bytes, which 8-bit samples do not need.
  const bool done = tiff != nullptr && late_tiff::TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 1) != 0 &&
                    late_tiff::TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, rows) != 0 &&
                    late_tiff::TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8) != 0 &&
                    late_tiff::TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK) != 0 &&
                    late_tiff::TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_LZW) != 0 &&
                    late_tiff::TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, rows) != 0 &&
                    late_tiff::TIFFWriteBufferSetup(tiff, nullptr, kBufferBytes) != 0 &&
                    late_tiff::TIFFWriteEncodedStrip(tiff, 0, const_cast<std::byte*>(data.data()),
                                                     static_cast<tmsize_t>(data.size())) ==
                        static_cast<tmsize_t>(data.size());
  if (!done) throw Error(ErrorKind::memory, "LZW: " + handle.take_error());
  const std::uint64_t begin = late_tiff::TIFFGetStrileOffset(tiff, 0),
                      bytes = late_tiff::TIFFGetStrileByteCount(tiff, 0);
  file = std::move(handle.file());
  handle.file().clear();  // libtiff writes the rest of the file here when closed
  if (begin > file.size() || bytes > file.size() - begin || bytes == 0)
    throw Error(ErrorKind::memory, "LZW: libtiff returned no strip");
  file.resize(begin + bytes);
  file.erase(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(begin));
  file.shrink_to_fit();
  return file;
}

}  // namespace imgpipe
