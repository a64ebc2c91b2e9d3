// A libtiff handle for a file in memory. Its errors and warnings are stored, not printed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

struct tiff;

namespace imgpipe {

class TiffHandle {
 public:
  // `mode`: see TIFFOpen(). get() is nullptr if libtiff rejects the file.
  TiffHandle(std::vector<std::byte> file, const char* mode);
  ~TiffHandle();
  TiffHandle(const TiffHandle&) = delete;
  TiffHandle& operator=(const TiffHandle&) = delete;

  [[nodiscard]] tiff* get() const noexcept { return tiff_; }
  // Return and clear the first error or warning since the last call, printable; empty: none.
  [[nodiscard]] std::string take_error();
  [[nodiscard]] std::string take_warning();
  // The written bytes, as far as libtiff has flushed them.
  [[nodiscard]] std::vector<std::byte>& file() noexcept { return file_; }

 private:
  struct Calls;  // callbacks for the library

  std::vector<std::byte> file_;
  std::size_t position_ = 0;
  std::string error_, warning_;
  tiff* tiff_ = nullptr;
};

}  // namespace imgpipe
