// A file of which no more is read than what its headers need, for who wants to know what it is and not how it
// looks: memory of the file's length, zero but for the parts that were asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "images/files/input_file.h"

namespace imgpipe {

class FileFront {
 public:
  // Throws Error(memory) where there are not so many addresses; the pages that nothing was read into take no
  // memory.
  explicit FileFront(InputFile file);
  ~FileFront();
  FileFront(const FileFront&) = delete;
  FileFront& operator=(const FileFront&) = delete;

  [[nodiscard]] const InputFile& file() const noexcept { return file_; }
  // As many as the file has.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept;
  // Reads these bytes, as far as the file has them and they are not there yet, in blocks. Throws Error(input)
  // where they cannot be read or the file has been cut, Error(memory) where there is no room for them.
  void load(std::uint64_t at, std::uint64_t count);
  void load_all() { load(0, static_cast<std::uint64_t>(file_.size_bytes())); }
  // That were read so far.
  [[nodiscard]] std::int64_t loaded_bytes() const noexcept { return loaded_bytes_; }

 private:
  InputFile file_;
  std::span<std::byte> memory_;  // empty where the file is in memory already
  std::vector<bool> loaded_;     // by block
  std::int64_t loaded_bytes_ = 0;
};

}  // namespace imgpipe
