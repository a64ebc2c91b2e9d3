// Amounts of memory and numbers of pixels on the command line: a number, and a unit or none.
//
//   500000000  1.5G  100MB  64MiB      bytes: K, M, G, T and KiB to TiB are powers of 1024; kB to TB of 1000
//   268435456  100M  47MP  1.5GP       pixels: k, M, G, T, with P behind them or without, are powers of 1000
//
// Upper and lower case are alike. A fraction, of at most six decimals, needs a unit; what is left of the last
// byte or pixel is rounded down. No sign, no space, no exponent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "images/plane.h"

namespace imgpipe {

// A number of at most six decimals, times a unit of at most 1024^4, rounded down; the largest integer for
// more than one holds. std::nullopt for what is no number.
[[nodiscard]] std::optional<std::int64_t> parse_decimal(std::string_view number, std::int64_t unit);

// Bytes, from `least_megabytes` MiB to 1024 TiB, for that option. Throws Error(usage) that says what is
// taken.
[[nodiscard]] std::int64_t parse_memory(const std::string& text, const std::string& option = "memory",
                                        std::int64_t least_megabytes = 64);
// Pixels, from 1 to `most`, for that option. Throws as parse_memory() does.
[[nodiscard]] std::int64_t parse_pixels(std::string_view text, const std::string& option, std::int64_t most);

// "640x480": both at least 1, at most 2^31-1. Throws Error(usage).
[[nodiscard]] Shape parse_size(const std::string& text);

}  // namespace imgpipe
