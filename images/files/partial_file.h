// A file that is read only in part, as the headers require, for inspection without decoding. Its memory has
// the file's length and is zero except for the loaded parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "images/files/input_file.h"

namespace imgpipe {

class PartialFile {
 public:
  // Reserves address space, which takes no memory until it is loaded. Throws Error(memory).
  explicit PartialFile(InputFile file);
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  [[nodiscard]] const InputFile& file() const noexcept { return file_; }
  // The whole length of the file.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept;
  // Reads, in blocks, the parts of the range that exist in the file and are not loaded yet. Throws
  // Error(input) if reading fails or the file was truncated, Error(memory) if memory runs out.
  void load(std::uint64_t at, std::uint64_t count);
  void load_all() { load(0, static_cast<std::uint64_t>(file_.size_bytes())); }
  [[nodiscard]] std::int64_t loaded_bytes() const noexcept { return loaded_bytes_; }

 private:
  InputFile file_;
  std::span<std::byte> memory_;  // empty if the file is already in memory
  std::vector<bool> loaded_;     // by block
  std::int64_t loaded_bytes_ = 0;
};

}  // namespace imgpipe
