#include "app/options/decoding_options.h"

#include <cstdint>
#include <string>

#include "app/options/option_parser.h"
#include "app/options/sizes.h"
#include "images/text.h"

namespace imgpipe {

std::vector<OptionRow> decoding_rows() {
  return {
      {"Input",
       "bands",
       "LIST",
       nullptr,
       "Bands of a TIFF, from 1: one as grey, or three as RGB in that order (4,3,2); color: the colours and "
       "alpha without further bands. Without it an image whose bands cannot all be preserved is refused",
       {std::string(kColorBands)}},
      {"Input", "max-pixels", "N", "268435456", "Refuse larger images; 100M and 47MP are counts too"},
      {"Input", "lenient", nullptr, nullptr, "Accept what a damaged file still holds, the rest mid-grey"},
      {"Input", "no-orient", nullptr, nullptr, "Leave the EXIF orientation alone"},
      {"Input", "codec", "NAME", "auto",
       "auto; turbo: JPEG by libjpeg-turbo alone, without the decoder for several threads, which gives the "
       "same pixels; stb: stb_image and stb_image_write wherever they can",
       choice_names(kCodecs)},
  };
}

namespace {

// "color", or one or three numbers: "4,3,2".
void parse_bands(const std::string& text, DecodeOptions& decode) {
  constexpr std::int64_t kMostBands = 64;
  if (text == kColorBands) {
    decode.colors_only = true;
    return;
  }
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    decode.bands.push_back(static_cast<int>(parse_integer("bands", rest.substr(0, comma), 1, kMostBands)));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (decode.bands.size() != 1 && decode.bands.size() != 3)
    usage("--bands: expected one band, three bands or " + std::string(kColorBands) + ", got '" +
          printable(text) + "'");
}

}  // namespace

DecodeOptions read_decoding(const Parser& parser) {
  DecodeOptions decode;
  if (parser.knows("max-pixels"))
    decode.max_pixels = parse_pixels(parser.text("max-pixels"), "max-pixels", std::int64_t{1} << 34);
  if (parser.has("bands")) parse_bands(parser.text("bands"), decode);
  decode.lenient = parser.has("lenient");
  decode.orient = !parser.has("no-orient");
  if (parser.knows("codec")) decode.codec = parse_choice("codec", parser.text("codec"), kCodecs);
  return decode;
}

}  // namespace imgpipe
