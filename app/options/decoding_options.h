// How files are decoded.
#pragma once

#include <string_view>
#include <vector>

#include "app/options/option_row.h"
#include "app/options/option_values.h"
#include "images/codecs/codec.h"

namespace imgpipe {

class Parser;

inline constexpr Choices<CodecChoice, 3> kCodecs{
    {{"auto", CodecChoice::automatic}, {"turbo", CodecChoice::turbo}, {"stb", CodecChoice::stb}}};
// Of --bands, next to numbers.
inline constexpr std::string_view kColorBands = "color";

// --bands, --max-pixels, --lenient, --no-orient, --codec.
[[nodiscard]] std::vector<OptionRow> decoding_rows();
// Of those that the command has.
[[nodiscard]] DecodeOptions read_decoding(const Parser& parser);

}  // namespace imgpipe
