// Reads embedded ICC profiles: whether a profile is sRGB, its name, and whether it is valid to copy
// (ICC.1:2001-04 for version 2, ICC.1:2010 for version 4).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace imgpipe {

// The maximum size of a profile; profiles of real printers take up to 2 MB.
inline constexpr std::size_t kMaxProfileBytes = std::size_t{4} << 20;

// Returns a profile's description, printable and of at most 80 bytes; empty for sRGB, "unnamed" if damaged or
// missing: metadata never makes an image fail. A matrix profile is sRGB if its primaries and curves are, a
// grey profile if its curve is, any other profile if its description begins with "sRGB".
[[nodiscard]] std::string profile_name(std::span<const std::byte> profile);

// Returns the fault in a profile's structure; empty if it is valid: its size fits the data and
// kMaxProfileBytes, and its tags lie inside it, after their table.
[[nodiscard]] std::string_view profile_fault(std::span<const std::byte> profile);
// Returns the size of a valid profile, which may be less than profile.size().
[[nodiscard]] std::size_t profile_bytes(std::span<const std::byte> profile);
// Returns the colour channels that the profile is for: 3 for RGB, 1 for grey, 4 for CMYK, 0 for all others.
[[nodiscard]] int profile_channels(std::span<const std::byte> profile);

}  // namespace imgpipe
