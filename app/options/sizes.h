// Amounts of memory and numbers of pixels on the command line: a number with an optional unit.
//
//   500000000  1.5G  100MB  64MiB      bytes: K, M, G, T and KiB to TiB are powers of 1024; kB to TB of 1000
//   268435456  100M  47MP  1.5GP       pixels: k, M, G, T, optionally followed by P, are powers of 1000
//
// Case does not matter. A fraction of at most six decimals needs a unit; the result is rounded down to whole
// bytes or pixels. Signs, spaces and exponents are not allowed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "images/plane.h"

namespace imgpipe {

// Multiplies a number of at most six decimals by a unit of at most 1024^4, rounding down. Returns the largest
// integer on overflow, and nullopt if the text is not a number.
[[nodiscard]] std::optional<std::int64_t> parse_decimal(std::string_view number, std::int64_t unit);

// Returns bytes, from `min_megabytes` MiB to 1024 TiB. Throws Error(usage) with the allowed values.
[[nodiscard]] std::int64_t parse_memory(const std::string& text, const std::string& option = "memory",
                                        std::int64_t min_megabytes = 64);
// Returns pixels, from 1 to `most`. Throws like parse_memory().
[[nodiscard]] std::int64_t parse_pixels(std::string_view text, const std::string& option, std::int64_t most);

// "640x480": both at least 1, at most 2^31-1. Throws Error(usage).
[[nodiscard]] Shape parse_size(const std::string& text, const std::string& option = "size");

}  // namespace imgpipe
