// A handle of libtiff's on a file in memory, whose errors and warnings go nowhere else.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

struct tiff;

namespace imgpipe {

class TiffHandle {
 public:
  // `mode` as of TIFFOpen(). get() is nullptr where libtiff refuses the file.
  TiffHandle(std::vector<std::byte> file, const char* mode);
  ~TiffHandle();
  TiffHandle(const TiffHandle&) = delete;
  TiffHandle& operator=(const TiffHandle&) = delete;

  [[nodiscard]] tiff* get() const noexcept { return tiff_; }
  // The first of each since it was asked for last, printable; empty: none.
  [[nodiscard]] std::string take_error();
  [[nodiscard]] std::string take_warning();
  // What was written, as far as libtiff has handed it over.
  [[nodiscard]] std::vector<std::byte>& file() noexcept { return file_; }

 private:
  struct Calls;  // of the library

  std::vector<std::byte> file_;
  std::size_t position_ = 0;
  std::string error_, warning_;
  tiff* tiff_ = nullptr;
};

}  // namespace imgpipe
