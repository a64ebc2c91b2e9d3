// What options take that are a choice: the words, and what each stands for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/options/logging_options.h"
#include "images/codecs/codec.h"

namespace imgpipe {

template <class Value, std::size_t N>
using Choices = std::array<std::pair<std::string_view, Value>, N>;

inline constexpr Choices<CodecChoice, 3> kCodecs{
    {{"auto", CodecChoice::automatic}, {"turbo", CodecChoice::turbo}, {"stb", CodecChoice::stb}}};
inline constexpr Choices<SampleType, 2> kDepths{{{"8", SampleType::u8}, {"16", SampleType::u16}}};
inline constexpr Choices<WebpCoding, 2> kWebpCodings{
    {{"lossless", WebpCoding::lossless}, {"lossy", WebpCoding::lossy}}};
inline constexpr Choices<TiffPacking, 5> kTiffPackings{{{"none", TiffPacking::none},
                                                        {"deflate", TiffPacking::deflate},
                                                        {"lzw", TiffPacking::lzw},
                                                        {"packbits", TiffPacking::packbits},
                                                        {"zstd", TiffPacking::zstd}}};
inline constexpr Choices<bool, 2> kMetadata{{{"keep", true}, {"strip", false}}};
inline constexpr Choices<bool, 2> kSync{{{"yes", true}, {"no", false}}};
inline constexpr Choices<LogFormat, 2> kLogFormats{{{"text", LogFormat::text}, {"json", LogFormat::json}}};

// Of --bands, next to numbers.
inline constexpr std::string_view kColorBands = "color";

// The word that stands for a value.
template <class Value, std::size_t N>
[[nodiscard]] std::string_view choice_name(Value value, const Choices<Value, N>& choices) {
  return std::ranges::find(choices, value, &std::pair<std::string_view, Value>::second)->first;
}
// As texts of their own.
template <class Names>
[[nodiscard]] std::vector<std::string> strings(const Names& names) {
  return {names.begin(), names.end()};
}
template <class Value, std::size_t N>
[[nodiscard]] std::vector<std::string> choice_names(const Choices<Value, N>& choices) {
  std::vector<std::string> names;
  names.reserve(N);
  for (const auto& choice : choices) names.emplace_back(choice.first);
  return names;
}

}  // namespace imgpipe
