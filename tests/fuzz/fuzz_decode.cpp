// Any bytes through every decoder, strict and lenient, automatic and stb, to 8 bits a sample and to 16.
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
    for (int way = 0; way < 4; ++way) {
      DecodeOptions options;
      options.max_pixels = 1 << 20;
      options.lenient = way % 2 != 0;
      options.most_bits = way < 2 ? 8 : 16;
      options.codec = codec;
      try {
        (void)longest_file(bytes, options);
        const auto reader = open_reader(bytes, options);
        if (printable(reader->header().profile) != reader->header().profile) __builtin_trap();
        Image image(reader->header().shape);
        if (options.most_bits == 8 && image.shape().sample != SampleType::u8) __builtin_trap();
        reader->read_rows(image.untyped_view());
        // Reading every byte makes MemorySanitizer and valgrind see what was never written.
        unsigned sum = 0;
        for (std::int64_t i = 0; i < image.shape().bytes(); ++i)
          sum += std::to_integer<unsigned>(image.untyped_view().data[i]);
        if (sum == 0xFFFFFFFF) return 0;
      } catch (const Error& error) {
        if (printable(error.what()) != error.what()) __builtin_trap();
      }
    }
  }
  return 0;
}
