// Reads and writes numbers and texts in files, and names formats that are not supported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace imgpipe {

// Returns the error text for bytes that are not a supported image; names the format if it is known.
[[nodiscard]] std::string unknown_content_reason(std::span<const std::byte> bytes);

// Returns whether all of `text` is at offset `at`.
[[nodiscard]] bool matches_at(std::span<const std::byte> bytes, std::size_t at, std::string_view text);

// Read unsigned integers; bytes after the end count as 0.
[[nodiscard]] std::uint32_t little_endian(std::span<const std::byte> bytes, std::size_t at,
                                          std::size_t count);
[[nodiscard]] std::uint32_t big_endian(std::span<const std::byte> bytes, std::size_t at, std::size_t count);
[[nodiscard]] std::uint64_t big_endian_64(std::span<const std::byte> bytes, std::size_t at);

// Returns `count` bytes at offset `at`; empty if they are not all there.
[[nodiscard]] std::span<const std::byte> bytes_at(std::span<const std::byte> bytes, std::size_t at,
                                                  std::size_t count);

void append_text(std::vector<std::byte>& out, std::string_view text);
// Appends the low `count` bytes of a number.
void append_big_endian(std::vector<std::byte>& out, std::size_t value, int count);
void insert_bytes(std::vector<std::byte>& file, std::size_t at, std::span<const std::byte> bytes);

}  // namespace imgpipe
