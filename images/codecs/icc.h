// What imgpipe wants of an embedded ICC profile, which it does not apply: is it sRGB, what is it called, and
// may it be copied (ICC.1:2001-04 for version 2, ICC.1:2010 for version 4).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace imgpipe {

// A profile is looked at no further than this; those of real printers take up to 2 MB.
inline constexpr std::size_t kMostProfileBytes = std::size_t{4} << 20;

// The name of a profile to tell a person: its description, printable and of at most 80 bytes. Empty for
// sRGB: the primaries and the curves of a matrix profile (of a grey one the curve) are sRGB's whatever it is
// called; of any other kind the description begins with "sRGB". "unnamed" where the profile is damaged or
// says nothing: metadata never makes an image fail.
[[nodiscard]] std::string profile_name(std::span<const std::byte> profile);

// What is wrong with a profile's structure, in words; empty: nothing is. Its size is there and within
// kMostProfileBytes, its tags lie inside, behind their table.
[[nodiscard]] std::string_view profile_fault(std::span<const std::byte> profile);
// Of one without a fault: the bytes that it takes, which may be fewer than are there.
[[nodiscard]] std::size_t profile_bytes(std::span<const std::byte> profile);
// Of the pixels that it is for: 3 for RGB, 1 for grey, 0 for all others.
[[nodiscard]] int profile_channels(std::span<const std::byte> profile);

}  // namespace imgpipe
