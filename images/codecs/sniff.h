// The bytes of files: numbers and texts in them, read and written; and what is told to a person of bytes that
// are no image we read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace imgpipe {

// The reason to give for bytes that are no image we read: names the format where we know it all the same.
[[nodiscard]] std::string unknown_content_reason(std::span<const std::byte> bytes);

// Whether `text` stands at `at`, whole.
[[nodiscard]] bool stands_at(std::span<const std::byte> bytes, std::size_t at, std::string_view text);

// Unsigned integers inside a file; 0 beyond its end.
[[nodiscard]] std::uint32_t little_endian(std::span<const std::byte> bytes, std::size_t at,
                                          std::size_t count);
[[nodiscard]] std::uint32_t big_endian(std::span<const std::byte> bytes, std::size_t at, std::size_t count);
[[nodiscard]] std::uint64_t big_endian_64(std::span<const std::byte> bytes, std::size_t at);

// `count` bytes from `at` on; none where they are not all there.
[[nodiscard]] std::span<const std::byte> bytes_at(std::span<const std::byte> bytes, std::size_t at,
                                                  std::size_t count);

void append_text(std::vector<std::byte>& out, std::string_view text);
// The last `count` bytes of a number.
void append_big_endian(std::vector<std::byte>& out, std::size_t value, int count);
void insert_bytes(std::vector<std::byte>& file, std::size_t at, std::span<const std::byte> bytes);

}  // namespace imgpipe
