// Names as people type them: a word's two spellings, and what was meant by a name that there is not.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace imgpipe {

// The text with grey, colour, centre and equalise in it as names here have them: gray, color, center,
// equalize.
[[nodiscard]] std::string usual_spelling(std::string_view text);

// How many single letters must be inserted, deleted, replaced or exchanged with their neighbour to make one
// text of the other, no part of it being changed twice: the optimal string alignment distance (Damerau, A
// technique for computer detection and correction of spelling errors, 1964; Wagner and Lowrance, 1975,
// restricted). Takes time and memory in proportion to the product of both lengths.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

// The name that is nearest to what was given, in either case and spelling; of several the first. It must not
// be further away than a third of the longer one's letters, rounded down; of names with up to three letters
// none may be replaced ("gpu" is not "cpu"). Numbers are not looked for, nor is what has over 40 letters.
// Empty: there is none.
[[nodiscard]] std::string_view nearest_name(std::string_view given, std::span<const std::string_view> names);

// "; did you mean NAME?"; empty where there is no nearest name.
[[nodiscard]] std::string did_you_mean(std::string_view given, std::span<const std::string_view> names);

// "PROBLEM; did you mean NAME? The names are ..." of the rest "the names are ..."; without a nearest name
// "PROBLEM; the names are ...".
[[nodiscard]] std::string unknown_name(const std::string& problem, std::string_view given,
                                       std::span<const std::string_view> names, const std::string& rest);

// "gray, hist, contrast"
[[nodiscard]] std::string joined(std::span<const std::string_view> names);

// "'trubo' is none of auto, turbo, stb; did you mean turbo?"
[[nodiscard]] std::string none_of(std::string_view given, std::span<const std::string_view> names);

}  // namespace imgpipe
