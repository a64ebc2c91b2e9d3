// Decodes sources into images. Everything here runs without the GIL.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/python/core/sources.h"
#include "images/codecs/codec.h"
#include "images/codecs/pages.h"
#include "images/image.h"

namespace imgpipe::python {

// Returns the meaning of "strict", "lenient" or "pillow". Throws Error(usage) for another name.
// Returns the rule of this name; nullopt if it is empty. Throws Error(usage) for others.
[[nodiscard]] std::optional<IntegerRule> integer_rule_of(std::string_view name);
[[nodiscard]] Acceptance acceptance_of(std::string_view name);
// The program's usual options with these values.
[[nodiscard]] DecodeOptions decode_options(std::string_view acceptance,
                                           std::int64_t max_pixels = kDefaultMaxPixels);

struct Decoding {
  DecodeOptions options;
  int channels = 0;  // of the result; 0: as in the image
  std::int64_t page = 0;
};

struct Decoded {
  std::shared_ptr<Image> image;
  std::vector<std::string> warnings;  // tolerated damage
};

// Decodes one page of the source. Colour becomes grey by the stage `gray`, grey becomes three equal channels,
// and missing alpha is opaque. Throws Error(input) and Error(memory), without the source's name.
[[nodiscard]] Decoded decode(const Source& source, const Decoding& decoding, int threads);

// Reads the pages of a source, one at a time. The source must outlive it.
class SourcePages {
 public:
  // Throws Error(input) and Error(memory).
  SourcePages(const Source& source, const Decoding& decoding);

  [[nodiscard]] std::int64_t size() const { return pages_ ? pages_->size() : 1; }
  // The tolerated damage of the list of pages; empty: none.
  [[nodiscard]] std::string warning() const { return pages_ ? pages_->warning() : ""; }
  // Decodes page `index`, from 0. Throws Error(input) if it does not exist, and like decode(). Thread-safe.
  [[nodiscard]] Decoded decode(std::int64_t index, int threads) const;

 private:
  Decoding decoding_;
  InputFile file_;
  std::unique_ptr<Pages> pages_;  // reads from file_; nullptr: a format without pages
};

}  // namespace imgpipe::python
