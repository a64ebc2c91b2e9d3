// The file that an image is read from: in memory as a whole, or its beginning only where the reader asks for
// the rest row by row. images/formats/pending_input.h opens it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "images/files/file_descriptor.h"

namespace imgpipe {

class InputFile {
 public:
  InputFile() = default;
  explicit InputFile(std::vector<std::byte> whole);
  // A regular file of `size` bytes, of which `beginning` are the first.
  InputFile(std::vector<std::byte> beginning, std::unique_ptr<FileDescriptor> file, std::int64_t size);

  // All of it, or its beginning.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool is_whole() const noexcept { return file_ == nullptr; }
  [[nodiscard]] std::int64_t size_bytes() const noexcept { return size_; }

  // Fills `out` with the bytes from `offset` on and returns how many there were, of a file that is cut in the
  // meantime too. Throws Error(input).
  [[nodiscard]] std::size_t read_at(std::int64_t offset, std::span<std::byte> out) const;

 private:
  std::vector<std::byte> bytes_;
  std::unique_ptr<FileDescriptor> file_;
  std::int64_t size_ = 0;
};

// A hash of what a file holds, never 0: the CRC-64 (ECMA-182, reflected) of its size, 8 bytes with the lowest
// first, and of its bytes. Of a file of more than 1 MiB it takes 64 blocks of 16 KiB, spread evenly from the
// first byte to the last: the cost is bounded, and files that are read in parts have one too. Throws
// Error(input).
[[nodiscard]] std::uint64_t content_hash(const InputFile& file);

// A regular file with its first bytes, or all that it has; nullopt where it cannot be opened, or is none.
[[nodiscard]] std::optional<InputFile> open_where_it_lies(const std::string& path,
                                                          std::size_t beginning_bytes);

}  // namespace imgpipe
