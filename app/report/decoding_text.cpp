#include "app/report/decoding_text.h"

#include <algorithm>
#include <sstream>

#include "app/options/coding_options.h"
#include "app/process_options/options_digest.h"
#include "images/error.h"
#include "images/text.h"

namespace imgpipe {

std::string decoding_text(const Decoding& decoding, const ImageHeader& header) {
  const DecodeOptions& options = decoding.options;
  std::string text = "accept=" + std::string(choice_name(options.accept, kAcceptances));
  if (!options.orient) text += " orient=no";
  if (options.codec != CodecChoice::automatic)
    text += " codec=" + std::string(choice_name(options.codec, kCodecs));
  if (options.integers) text += " integers=" + integers_text(options);
  if (options.selects_bands()) text += " bands=" + bands_text(options);
  if (header.scale > 1) text += " scale=" + std::to_string(header.scale);
  if (header.inks) text += " inks=yes";
  if (decoding.pages) text += " pages=" + pages_text(*decoding.pages);
  return text;
}

Decoding parse_decoding(const std::string& text) {
  Decoding decoding;
  DecodeOptions& options = decoding.options;
  options.max_bits = 32;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string key = word.substr(0, equals), value = word.substr(std::min(equals + 1, word.size()));
    if (key == "accept") {
      options.accept = parse_choice(key, value, kAcceptances);
    } else if (word == "orient=no") {
      options.orient = false;
    } else if (key == "codec") {
      options.codec = parse_choice(key, value, kCodecs);
    } else if (key == "integers") {
      options.integers = parse_choice(key, value, kIntegerRules);
    } else if (key == "bands") {
      parse_bands(value, options);
    } else if (key == "scale" && value != "auto") {
      options.scale = parse_choice(key, value, kDecodeScales);
    } else if (word == "inks=yes") {
      options.inks = options.with_profile = true;
    } else if (key == "pages") {
      decoding.pages = parse_pages(value);
    } else {
      throw Error(ErrorKind::usage, "unknown decoding '" + printable(word) + "'");
    }
  }
  return decoding;
}

}  // namespace imgpipe
