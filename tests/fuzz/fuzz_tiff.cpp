// Reads any bytes as a TIFF, strict and lenient, with 8 and 16 bits: row by row and in bands, the verdict and
// the pixels are the same. Its pages are extracted and read.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "images/codecs/codec.h"
#include "images/codecs/tiff/tiff_codec.h"
#include "images/codecs/tiff/tiff_pages.h"
#include "images/error.h"
#include "images/files/input_file.h"
#include "images/image.h"
#include "images/text.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using imgpipe::Bytes;
using imgpipe::DecodeOptions;
using imgpipe::Error;
using imgpipe::Image;

struct Outcome {
  std::string error;
  std::vector<std::byte> pixels;
};

Outcome read(Bytes bytes, const DecodeOptions& options, bool banded) {
  Outcome outcome;
  try {
    const auto reader = imgpipe::open_tiff(bytes, options);
    Image image(reader->header().shape);
    const std::int64_t height = image.shape().height;
    if (!banded) {
      reader->read_rows(image.untyped_view());
    } else {
      constexpr std::int64_t kRows = 5;
      for (std::int64_t y = 0; y < height; y += kRows) {
        const std::int64_t rows = std::min(kRows, height - y);
        reader->begin_band(y, rows);
        reader->read_band(y, image.untyped_view().rows(y, rows));
      }
    }
    const imgpipe::ConstHostView view = image.untyped_view();
    outcome.pixels.assign(view.data, view.data + view.bytes());
  } catch (const Error& error) {
    outcome.error = error.what();
    if (imgpipe::printable(outcome.error) != outcome.error) __builtin_trap();
  }
  return outcome;
}

// Extracts the first pages as separate files. A page may be larger than the file, because its offsets are
// rewritten.
void cut_pages(Bytes bytes, const DecodeOptions& options) {
  constexpr std::int64_t kPages = 4;
  const imgpipe::InputFile file(std::vector<std::byte>(bytes.begin(), bytes.end()));
  try {
    const auto pages = imgpipe::open_tiff_pages(file, options);
    for (std::int64_t i = 0; i < std::min(kPages, pages->size()); ++i) {
      const imgpipe::InputFile front = pages->page(i, imgpipe::Pages::Part::front);
      const imgpipe::InputFile file_of_page = pages->page(i, imgpipe::Pages::Part::all);
      const Bytes page = file_of_page.bytes();
      if (page.size() > 8 * bytes.size() + 64 || front.bytes().size() != page.size() ||
          !imgpipe::is_tiff(page))
        __builtin_trap();
      (void)read(page, options, false);
    }
  } catch (const Error& error) {
    if (imgpipe::printable(error.what()) != error.what()) __builtin_trap();
  }
}

}  // namespace

IMGPIPE_FUZZ_TARGET(fuzz_tiff) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (!imgpipe::is_tiff(bytes)) return 0;
  (void)imgpipe::tiff_claim(bytes);
  (void)imgpipe::find_tiff_mark(bytes);
  for (const bool lenient : {false, true}) {
    for (const int max_bits : {8, 16, 32}) {
      DecodeOptions options;
      options.max_pixels = 1 << 18;
      options.accept = lenient ? imgpipe::Acceptance::lenient : imgpipe::Acceptance::strict;
      options.max_bits = max_bits;
      options.integers = max_bits == 32 ? imgpipe::IntegerRule::unit : imgpipe::IntegerRule::range;
      const Outcome rows = read(bytes, options, false);
      const Outcome bands = read(bytes, options, true);
      if (rows.error != bands.error || rows.pixels != bands.pixels) __builtin_trap();
    }
    DecodeOptions options;
    options.max_pixels = 1 << 18;
    options.accept = lenient ? imgpipe::Acceptance::lenient : imgpipe::Acceptance::strict;
    cut_pages(bytes, options);
  }
  return 0;
}
