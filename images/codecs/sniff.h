// Headers read for what they claim, before a decoder sees the file. Formats are told by content, never by
// name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

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

}  // namespace imgpipe
