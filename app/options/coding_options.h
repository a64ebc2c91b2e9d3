// Options for decoding and encoding, and for replacing files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/files/replaceable.h"
#include "app/options/option_row.h"
#include "app/options/option_values.h"
#include "images/codecs/codec.h"

namespace imgpipe {

class Parser;

inline constexpr Choices<CodecChoice, 3> kCodecs{
    {{"auto", CodecChoice::automatic}, {"turbo", CodecChoice::turbo}, {"stb", CodecChoice::stb}}};
inline constexpr Choices<Acceptance, 3> kAcceptances{
    {{"strict", Acceptance::strict}, {"lenient", Acceptance::lenient}, {"pillow", Acceptance::pillow}}};
inline constexpr Choices<IntegerRule, 3> kIntegerRules{
    {{"value", IntegerRule::value}, {"unit", IntegerRule::unit}, {"range", IntegerRule::range}}};
// --decode-scale; for auto, the rule is scale1 (pipeline/decode_scale.h).
inline constexpr Choices<int, 5> kDecodeScales{
    {{"auto", kAutoScale}, {"1", 1}, {"2", 2}, {"4", 4}, {"8", 8}}};
// Values of --bands, in addition to numbers.
inline constexpr std::string_view kColorBands = "color", kAllBands = "all";

// --bands, --integers, --max-pixels, --accept, --lenient, --no-orient, --codec. `all_bands`: --bands accepts
// all.
[[nodiscard]] std::vector<OptionRow> decoding_rows(bool all_bands = false);
// --decode-scale.
[[nodiscard]] std::vector<OptionRow> scale_rows();
// Parses a value of --bands: "color", or one or three numbers ("4,3,2"). Throws Error(usage).
void parse_bands(const std::string& text, DecodeOptions& decode);
// Reads the decoding options that the command has.
[[nodiscard]] DecodeOptions read_decoding(const Parser& parser);

inline constexpr Choices<WebpCoding, 2> kWebpCodings{
    {{"lossless", WebpCoding::lossless}, {"lossy", WebpCoding::lossy}}};
inline constexpr Choices<TiffPacking, 5> kTiffPackings{{{"none", TiffPacking::none},
                                                        {"deflate", TiffPacking::deflate},
                                                        {"lzw", TiffPacking::lzw},
                                                        {"packbits", TiffPacking::packbits},
                                                        {"zstd", TiffPacking::zstd}}};

// --format, --quality and the options of single formats.
[[nodiscard]] std::vector<OptionRow> encoding_rows();
[[nodiscard]] EncodeOptions read_encoding(const Parser& parser);
// --format; nullopt: not given.
[[nodiscard]] std::optional<Format> read_format(const Parser& parser);

// --overwrite, --no-clobber.
[[nodiscard]] std::vector<OptionRow> replace_rows();
[[nodiscard]] Replace read_replace(const Parser& parser);

// Returns the names of all formats that --format accepts.
[[nodiscard]] std::vector<std::string_view> output_formats();
// Returns the names of writable formats of images with at least this many bits per sample.
[[nodiscard]] std::vector<std::string_view> writable_formats(int min_bits);

// Returns the option's format, otherwise that of OUTPUT's ending. Throws Error(usage) if both are missing or
// contradict each other.
[[nodiscard]] Format output_format(const std::string& output, const std::optional<Format>& option);

}  // namespace imgpipe
