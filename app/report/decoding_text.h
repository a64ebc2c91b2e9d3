// How the pixels of an input were decoded, so that imgpipe verify can decode them again.
#pragma once

#include <optional>
#include <string>

#include "images/codecs/codec.h"
#include "pipeline/jobs/page_selection.h"

namespace imgpipe {

struct Decoding {
  DecodeOptions options;
  std::optional<PageSelection> pages;  // nullopt: the file as one image
};

// Returns words such as "accept=strict scale=2 pages=2-5". `header`: of the decoded image.
[[nodiscard]] std::string decoding_text(const Decoding& decoding, const ImageHeader& header);
// Throws Error(usage) for other texts.
[[nodiscard]] Decoding parse_decoding(const std::string& text);

}  // namespace imgpipe
