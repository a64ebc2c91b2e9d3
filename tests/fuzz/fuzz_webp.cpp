// Reads any bytes as a WebP, strict and lenient. Strictly read pixels equal libwebp's.
#include <cstdint>
#include <cstring>
#include <span>

#include <webp/decode.h>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/image.h"
#include "images/text.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace imgpipe;

// Compares with libwebp's pixels, unless the file is an animation.
void compare(std::span<const std::uint8_t> file, ConstHostPlane image) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(file.data(), file.size(), &features) != VP8_STATUS_OK) __builtin_trap();
  if (features.has_animation != 0) return;
  int width = 0, height = 0;
  std::uint8_t* pixels = image.channels == 4 ? WebPDecodeRGBA(file.data(), file.size(), &width, &height)
                                             : WebPDecodeRGB(file.data(), file.size(), &width, &height);
  if (pixels == nullptr || width != image.width || height != image.height) __builtin_trap();
  const auto row_bytes = static_cast<std::size_t>(image.row_samples());
  for (std::int64_t y = 0; y < image.height; ++y) {
    if (std::memcmp(image.row(y), pixels + static_cast<std::size_t>(y) * row_bytes, row_bytes) != 0)
      __builtin_trap();
  }
  WebPFree(pixels);
}

}  // namespace

IMGPIPE_FUZZ_TARGET(fuzz_webp) {
  const std::span<const std::uint8_t> file(data, size);
  for (const bool lenient : {false, true}) {
    DecodeOptions options;
    options.max_pixels = 1 << 18;
    options.accept = lenient ? Acceptance::lenient : Acceptance::strict;
    options.orient = false;
    try {
      const auto reader = open_reader(std::as_bytes(file), options);
      const bool is_webp = reader->header().format == Format::webp;
      Image image(reader->header().shape);
      reader->read_rows(image.view());
      unsigned sum = 0;
      for (std::int64_t i = 0; i < image.shape().samples(); ++i) sum += image.view().data[i];
      if (sum == 0xFFFFFFFF) return 0;
      if (is_webp && !lenient) compare(file, image.view());
    } catch (const Error& error) {
      if (printable(error.what()) != error.what()) __builtin_trap();
    }
  }
  return 0;
}
