#include "app/options/encoding_options.h"

#include <filesystem>

#include "app/files/name_template.h"
#include "app/options/option_parser.h"
#include "images/error.h"
#include "images/names.h"
#include "images/text.h"

namespace imgpipe {

std::vector<OptionRow> encoding_rows() {
  return {
      {"Output", "format", "NAME", nullptr,
       "Output format, where OUTPUT's ending does not say it: " + joined(writable_formats()) +
           ". An ending that says another one is an error; without an ending, OUTPUT is a file unless a "
           "folder of that name is there. A batch gives its outputs this ending",
       strings(writable_formats())},
      {"Output", "quality", "N", "90", "Quality of JPEG and of lossy WebP, 1..100"},
      {"Output", "png-level", "N", "1",
       "PNG compression, 0..9. Photographs: 1, the fastest and within 1 % of the smallest. Drawings and "
       "text: 2, often smaller than 1 in the same time; 6 and 9, smaller still and many times slower. 1 uses "
       "Huffman codes, and matches only where they pay; 0, 2 and 3 use ISA-L, 4..9 zlib"},
      {"Output", "webp", "NAME", "lossless", "WebP: lossless, or lossy with --quality",
       choice_names(kWebpCodings)},
      {"Output", "webp-level", "N", "1", "WebP compression: 0 fastest, 9 smallest"},
      {"Output", "tiff-compression", "NAME", "deflate",
       "How strips and tiles of a TIFF are packed: none, deflate (by --png-level), lzw, packbits, zstd",
       choice_names(kTiffPackings)},
      {"Output", "tiff-tile", "N", "0", "TIFF in tiles of N times N pixels, a multiple of 16; 0: in strips"}};
}

std::vector<OptionRow> replace_rows() {
  return {{"Output", "overwrite", nullptr, nullptr,
           "Replace files that imgpipe did not write as well; without, it replaces its own only, which carry "
           "a mark"},
          {"Output", "no-clobber", nullptr, nullptr, "Replace no file at all"}};
}

std::vector<std::string_view> writable_formats(int least_bits) {
  std::vector<std::string_view> names;
  for (const FormatInfo& info : format_table()) {
    if (info.writable && info.written_bits >= least_bits) names.push_back(info.name);
  }
  return names;
}

std::optional<Format> read_format(const Parser& parser) {
  if (!parser.has("format")) return std::nullopt;
  const std::optional<Format> format = format_by_name(parser.text("format"));
  if (!format || !format_info(*format).writable) {
    usage_of_choice("format", parser.text("format"), writable_formats());
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
  if (options.tiff_tile % 16 != 0) usage("--tiff-tile: a multiple of 16, or 0 for strips");
  options.mark = Mark::result;
  return options;
}

Replace read_replace(const Parser& parser) {
  if (parser.has("overwrite") && parser.has("no-clobber"))
    usage("--overwrite and --no-clobber exclude each other");
  if (parser.has("overwrite")) return Replace::all;
  return parser.has("no-clobber") ? Replace::none : Replace::own;
}

Format output_format(const std::string& output, const std::optional<Format>& option) {
  const std::optional<Format> format = format_by_ending(output);
  if (option) {
    if (format && !is_ending_of(*format, *option))
      throw Error(ErrorKind::usage, "'" + printable(output) + "' ends as " +
                                        std::string(format_info(*format).name) + " does, and --format says " +
                                        std::string(format_info(*option).name) + ": change one of them");
    return *option;
  }
  if (!format) {
    const std::string ending = std::filesystem::path(output).extension().string();
    throw Error(ErrorKind::usage, ending.size() < 2
                                      ? "'" + printable(output) + "' has no ending: add --format png"
                                      : "'" + printable(output) + "': cannot write " + printable(ending) +
                                            "; use the ending of " + joined(writable_formats()) +
                                            ", or add --format png");
  }
  return *format;
}

}  // namespace imgpipe
