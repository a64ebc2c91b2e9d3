// Any bytes through every decoder, strict and lenient, automatic and stb.
#include <cstdint>
#include <span>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/image.h"
#include "images/text.h"
#include "tests/fuzz/fuzz_target.h"

IMGPIPE_FUZZ_TARGET(fuzz_decode) {
  using namespace imgpipe;
  const auto bytes = std::as_bytes(std::span(data, size));
  for (const CodecChoice codec : {CodecChoice::automatic, CodecChoice::stb}) {
    for (const bool lenient : {false, true}) {
      DecodeOptions options;
      options.max_pixels = 1 << 20;
      options.lenient = lenient;
      options.codec = codec;
      try {
        (void)longest_file(bytes, options);
        const auto reader = open_reader(bytes, options);
        if (printable(reader->header().profile) != reader->header().profile) __builtin_trap();
        Image image(reader->header().shape);
        reader->read_rows(image.view());
        // Reading every sample makes MemorySanitizer and valgrind see what was never written.
        unsigned sum = 0;
        for (std::int64_t i = 0; i < image.shape().samples(); ++i) sum += image.view().data[i];
        if (sum == 0xFFFFFFFF) return 0;
      } catch (const Error& error) {
        if (printable(error.what()) != error.what()) __builtin_trap();
      }
    }
  }
  return 0;
}
