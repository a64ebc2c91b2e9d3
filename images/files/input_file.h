// The file that an image is read from: whole in memory, or only its beginning if the reader fetches the rest
// row by row. images/formats/pending_input.h opens it. Or a page that brings a reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "images/files/file_descriptor.h"

namespace imgpipe {

class Reader;
struct DecodeOptions;

class InputFile {
 public:
  using OpenPage = std::function<std::unique_ptr<Reader>(const DecodeOptions&)>;

  InputFile() = default;
  explicit InputFile(std::vector<std::byte> whole);
  // The same for bytes that others read too.
  explicit InputFile(std::shared_ptr<const std::vector<std::byte>> whole);
  // A whole file in the caller's memory, which must outlive this.
  [[nodiscard]] static InputFile borrowed(std::span<const std::byte> whole);
  // A regular file of `size` bytes that starts with `beginning`.
  InputFile(std::vector<std::byte> beginning, std::unique_ptr<FileDescriptor> file, std::int64_t size);
  // A page whose pixels are not in a file, such as a composed frame of an animation. `metadata`: a file
  // with everything else. `open` must be valid as long as the file and its readers.
  InputFile(std::shared_ptr<const std::vector<std::byte>> metadata, OpenPage open);

  // The whole file or its beginning.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool is_whole() const noexcept { return file_ == nullptr; }
  [[nodiscard]] std::int64_t size_bytes() const noexcept { return size_; }
  // Opens the reader of a page's pixels; empty for files.
  [[nodiscard]] const OpenPage& open_page() const noexcept { return open_page_; }

  // Reads up to out.size() bytes at `offset` and returns their number. Throws Error(input).
  [[nodiscard]] std::size_t read_at(std::int64_t offset, std::span<std::byte> out) const;

  // From now on, hashes the bytes of a file on disk while read_at() reads them in order.
  void hash_passing_bytes();
  // Returns the SHA-256 of all bytes, as hexadecimal digits. Reads only those that have not been hashed yet.
  // Throws Error(input).
  [[nodiscard]] std::string sha256() const;

 private:
  std::shared_ptr<const std::vector<std::byte>> held_;  // null if the bytes are borrowed
  std::span<const std::byte> bytes_;
  std::unique_ptr<FileDescriptor> file_;
  struct PassingBytes;
  std::shared_ptr<PassingBytes> passing_;
  OpenPage open_page_;
  std::int64_t size_ = 0;
};

// Returns a hash of the contents, never 0: the CRC-64 (ECMA-182, reflected) of the size (8 bytes,
// little-endian) and the bytes. For a file over 1 MiB, hashes only 64 blocks of 16 KiB, spread evenly from
// the first byte to the last. That bounds the cost, also for files that are read in parts. Throws
// Error(input).
[[nodiscard]] std::uint64_t content_hash(const InputFile& file);

// Opens a regular file and reads its first bytes; nullopt if it cannot be opened or is not a regular file.
[[nodiscard]] std::optional<InputFile> open_on_disk(const std::string& path, std::size_t beginning_bytes);

}  // namespace imgpipe
