// Names that users type: spelling variants and suggestions for unknown names.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace imgpipe {

// Returns `text` with the spellings used here: gray, color, center, equalize.
[[nodiscard]] std::string canonical_spelling(std::string_view text);

// Returns the optimal string alignment distance: the number of letters to insert, delete, replace or swap
// with a neighbour to turn one text into the other, changing no part twice (Damerau 1964; Wagner and Lowrance
// 1975, restricted). Takes time proportional to the product of both lengths.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns the first of the names nearest to `given`, ignoring case and spelling variants; empty if none is
// near. The distance may be at most a third of the longer name's length. Names of up to three letters never
// match with a letter replaced ("gpu" is not "cpu"). Numbers and texts of over 40 letters never match.
[[nodiscard]] std::string_view nearest_name(std::string_view given, std::span<const std::string_view> names);

// Returns "; did you mean NAME?", or an empty string if no name is near.
[[nodiscard]] std::string did_you_mean(std::string_view given, std::span<const std::string_view> names);

// Returns "PROBLEM; did you mean NAME? The names are ..." for `rest` "the names are ..."; or "PROBLEM; REST".
[[nodiscard]] std::string unknown_name(const std::string& problem, std::string_view given,
                                       std::span<const std::string_view> names, const std::string& rest);

// Returns the names, separated by commas: "gray, hist, contrast".
[[nodiscard]] std::string joined(std::span<const std::string_view> names);

// Returns, for example, "must be one of auto, turbo, stb; got 'trubo'; did you mean turbo?".
[[nodiscard]] std::string none_of(std::string_view given, std::span<const std::string_view> names);

}  // namespace imgpipe
