// Decodes any bytes, by each Acceptance, automatic and stb, to 8 and to 16 bits per sample, and, without stb,
// to floats. A replay tries all combinations. A fuzzer selects one by the last byte, because all would slow
// it down.
#include <cstdint>
#include <span>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/image.h"
#include "images/text.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace imgpipe;

constexpr unsigned kVariants = 15;
#ifdef IMGPIPE_FUZZ_REPLAY
constexpr bool kEveryVariant = true;
constexpr std::int64_t kMaxPixels = 1 << 20;
#else
constexpr bool kEveryVariant = false;
constexpr std::int64_t kMaxPixels = 1 << 16;
#endif

void decode(std::span<const std::byte> bytes, unsigned variant) {
  DecodeOptions options;
  options.max_pixels = kMaxPixels;
  constexpr Acceptance kAccepted[] = {Acceptance::strict, Acceptance::lenient, Acceptance::pillow};
  options.accept = kAccepted[variant % 3];
  const bool to_floats = variant >= 12;
  options.max_bits = to_floats ? 32 : variant % 2 != 0 ? 16 : 8;
  options.integers = to_floats ? IntegerRule::value : IntegerRule::range;
  options.codec = variant >= 6 && !to_floats ? CodecChoice::stb : CodecChoice::automatic;
  try {
    (void)longest_file(bytes, options);
    const auto reader = open_reader(bytes, options);
    if (printable(reader->header().profile) != reader->header().profile) __builtin_trap();
    Image image(reader->header().shape);
    if (options.max_bits == 8 && image.shape().sample != Sample::u8) __builtin_trap();
    reader->read_rows(image.untyped_view());
    // Reading every byte lets MemorySanitizer and valgrind detect uninitialised ones.
    volatile unsigned sum = 0;
    for (std::int64_t i = 0; i < image.shape().bytes(); ++i)
      sum = sum + std::to_integer<unsigned>(image.untyped_view().data[i]);
  } catch (const Error& error) {
    if (printable(error.what()) != error.what()) __builtin_trap();
  }
}

}  // namespace

IMGPIPE_FUZZ_TARGET(fuzz_decode) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const unsigned picked = size > 0 ? data[size - 1] % kVariants : 0;
  for (unsigned variant = 0; variant < kVariants; ++variant) {
    if (kEveryVariant || variant == picked) decode(bytes, variant);
  }
  return 0;
}
