#include "app/options/coding_options.h"

#include <cstdint>
#include <filesystem>

#include "app/files/name_template.h"
#include "app/options/option_parser.h"
#include "app/options/sizes.h"
#include "images/error.h"
#include "images/names.h"
#include "images/text.h"

namespace imgpipe {

std::vector<OptionRow> decoding_rows(bool all_bands) {
  std::vector<OptionRow> rows{
      {"Input",
       "bands",
       "LIST",
       nullptr,
       "Bands of a TIFF, counted from 1. By default, an image whose bands cannot all be preserved is "
       "rejected. One: as grey; three: as RGB in that order (4,3,2); color: the colours and alpha only",
       {std::string(kColorBands)}},
      {"Input", "integers", "RULE", nullptr,
       "Signed integers and those of 32 bits, in a TIFF or NPY: value (floats of the same value), unit "
       "(floats, the greatest value of the type is 1) or range (8 or 16 bits, the least value of the type is "
       "black). By default, such an image is rejected",
       choice_names(kIntegerRules)},
      {"Input", "max-pixels", "N", "268435456", "Reject larger images; 100M and 47MP are accepted"},
      {"Input", "accept", "NAME", "strict",
       "Damaged files: strict rejects them; lenient reads the intact parts, the rest as mid-grey; pillow "
       "reads JPEG and PNG that Pillow 13.0 reads, with its pixels",
       choice_names(kAcceptances)},
      {"Input", "lenient", nullptr, nullptr, "The same as --accept lenient"},
      {"Input", "no-orient", nullptr, nullptr, "Ignore the EXIF orientation"},
      {"Input", "codec", "NAME", "auto",
       "auto; turbo: JPEG by libjpeg-turbo only, not by the multithreaded decoder (the pixels are the same); "
       "stb: stb_image and stb_image_write for every file that they support",
       choice_names(kCodecs)},
  };
  if (all_bands) {
    rows.front().help += "; all: each band as a grey image, written as the bands of one TIFF";
    rows.front().values.insert(rows.front().values.begin(), std::string(kAllBands));
  }
  return rows;
}

std::vector<OptionRow> scale_rows() {
  return {
      {"Input", "decode-scale", "N", "1",
       "Decode JPEG at 1/N of its size (by the scaled inverse DCT of libjpeg-turbo); auto: the greatest N at "
       "which no side is shorter than the first resize makes it, if only gray, rgb or flatten precede it",
       choice_names(kDecodeScales)}};
}

// Parses "color", "all", or one or three numbers: "4,3,2".
void parse_bands(const std::string& text, DecodeOptions& decode) {
  constexpr std::int64_t kMaxBands = 64;
  if (text == kColorBands) {
    decode.colors_only = true;
    return;
  }
  if (text == kAllBands) {
    decode.bands_of_page = 0;
    return;
  }
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    decode.bands.push_back(static_cast<int>(parse_integer("bands", rest.substr(0, comma), 1, kMaxBands)));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (decode.bands.size() != 1 && decode.bands.size() != 3)
    usage("--bands: expected one band, three bands or " + std::string(kColorBands) + ", got '" +
          printable(text) + "'");
}

DecodeOptions read_decoding(const Parser& parser) {
  DecodeOptions decode;
  if (parser.knows("max-pixels"))
    decode.max_pixels = parse_pixels(parser.text("max-pixels"), "max-pixels", std::int64_t{1} << 34);
  if (parser.has("bands")) parse_bands(parser.text("bands"), decode);
  if (parser.has("integers"))
    decode.integers = parse_choice("integers", parser.text("integers"), kIntegerRules);
  if (parser.has("accept") && parser.has("lenient"))
    usage("--accept: cannot be combined with --lenient, which means --accept lenient");
  decode.accept = parse_choice("accept", parser.text("accept"), kAcceptances);
  if (parser.has("lenient")) decode.accept = Acceptance::lenient;
  decode.orient = !parser.has("no-orient");
  if (parser.knows("codec")) decode.codec = parse_choice("codec", parser.text("codec"), kCodecs);
  if (decode.accept == Acceptance::pillow && decode.codec == CodecChoice::stb)
    usage("--accept: pillow cannot be combined with --codec stb");
  if (parser.knows("decode-scale"))
    decode.scale = parse_choice("decode-scale", parser.text("decode-scale"), kDecodeScales);
  if (decode.scale != 1 && decode.codec == CodecChoice::stb)
    usage("--decode-scale: only 1 can be combined with --codec stb");
  return decode;
}

std::vector<OptionRow> encoding_rows() {
  return {
      {"Output", "format", "NAME", nullptr,
       "Output format, if OUTPUT's extension does not determine it: " + joined(output_formats()) +
           " (safetensors stores only tensors, npy also images). A conflicting extension is an error. "
           "Without an extension, "
           "OUTPUT is a file unless a "
           "directory of that name exists. Outputs of a batch get this format's extension",
       strings(output_formats())},
      {"Output", "quality", "N", "90", "Quality of JPEG and of lossy WebP, 1..100"},
      {"Output", "png-level", "N", "1",
       "PNG compression, 0..9: 0 stores pixels, each further level is smaller or equal, and slower. For "
       "photographs use 1, or 7 to save up to 4% more. For drawings and text use 2, smaller than 1 in about "
       "the same time; 7 and 9 are smaller still and many times slower. 1 uses Huffman codes, and matches "
       "only where they save space; 2..9 use libdeflate"},
      {"Output", "webp", "NAME", "lossless", "WebP: lossless, or lossy with --quality",
       choice_names(kWebpCodings)},
      {"Output", "webp-level", "N", "1", "WebP compression: 0 fastest, 9 smallest"},
      {"Output", "tiff-compression", "NAME", "deflate",
       "Compression of strips and tiles of a TIFF: none, deflate (by --png-level), lzw, packbits, zstd",
       choice_names(kTiffPackings)},
      {"Output", "tiff-tile", "N", "0",
       "Write a TIFF in tiles of NxN pixels, N a multiple of 16; 0: in strips"}};
}

std::vector<OptionRow> replace_rows() {
  return {{"Output", "overwrite", nullptr, nullptr,
           "Also replace files that imgpipe did not write; by default it replaces only files that carry its "
           "mark"},
          {"Output", "no-clobber", nullptr, nullptr, "Never replace a file"}};
}

std::vector<std::string_view> writable_formats(int min_bits) {
  std::vector<std::string_view> names;
  for (const FormatInfo& info : format_table()) {
    if (info.writable && info.written_bits >= min_bits) names.push_back(info.name);
  }
  return names;
}

std::vector<std::string_view> output_formats() {
  std::vector<std::string_view> names;
  for (const FormatInfo& info : format_table()) {
    if (info.can_be_written()) names.push_back(info.name);
  }
  return names;
}

std::optional<Format> read_format(const Parser& parser) {
  if (!parser.has("format")) return std::nullopt;
  const std::optional<Format> format = format_by_name(parser.text("format"));
  if (!format || !format_info(*format).can_be_written()) {
    usage_of_choice("format", parser.text("format"), output_formats());
  }
  return format;
}

EncodeOptions read_encoding(const Parser& parser) {
  EncodeOptions options;
  options.quality = parser.integer("quality", 1, 100);
  options.png_level = parser.integer("png-level", 0, 9);
  options.webp = parse_choice("webp", parser.text("webp"), kWebpCodings);
  options.webp_level = parser.integer("webp-level", 0, 9);
  options.tiff_packing = parse_choice("tiff-compression", parser.text("tiff-compression"), kTiffPackings);
  options.tiff_tile = parser.integer("tiff-tile", 0, 4096);
  if (options.tiff_tile % 16 != 0)
    usage("--tiff-tile: must be a multiple of 16 (0: strips), got " + std::to_string(options.tiff_tile));
  options.mark = Mark::result;
  return options;
}

Replace read_replace(const Parser& parser) {
  if (parser.has("overwrite") && parser.has("no-clobber"))
    usage("--overwrite: cannot be combined with --no-clobber");
  if (parser.has("overwrite")) return Replace::all;
  return parser.has("no-clobber") ? Replace::none : Replace::own;
}

Format output_format(const std::string& output, const std::optional<Format>& option) {
  const std::optional<Format> format = format_by_ending(output);
  if (option) {
    if (format && !is_ending_of(*format, *option))
      throw Error(ErrorKind::usage, printable(output) + ": the extension is that of " +
                                        std::string(format_info(*format).name) + ", but --format is " +
                                        std::string(format_info(*option).name) + "; change one of them");
    return *option;
  }
  if (!format) {
    const std::string ending = std::filesystem::path(output).extension().string();
    throw Error(ErrorKind::usage,
                ending.size() < 2
                    ? printable(output) + ": no file extension; add one such as .png, or --format png"
                    : printable(output) + ": cannot write " + printable(ending) +
                          " files; use an extension of " + joined(output_formats()) +
                          ", or add --format png");
  }
  return *format;
}

}  // namespace imgpipe
