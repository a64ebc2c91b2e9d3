// Decodes any bytes, by each Acceptance, automatic and stb, to 8 and to 16 bits per sample, and, without stb,
// to floats; also the frames of animations. A replay tries all combinations. A fuzzer selects one by the last
// byte, because all would slow it down.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "images/codecs/codec.h"
#include "images/codecs/pages.h"
#include "images/error.h"
#include "images/formats/codec_table.h"
#include "images/formats/pending_input.h"
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
constexpr std::int64_t kMaxPixels = 1 << 14;  // larger images take longer and run the same code
#endif

void read(Reader& reader, const DecodeOptions& options) {
  if (printable(reader.header().profile) != reader.header().profile) __builtin_trap();
  Image image(reader.header().shape);
  if (options.max_bits == 8 && image.shape().sample != Sample::u8) __builtin_trap();
  reader.read_rows(image.untyped_view());
  // Reading every byte lets MemorySanitizer and valgrind detect uninitialised ones.
  const std::span decoded(image.untyped_view().data, static_cast<std::size_t>(image.shape().bytes()));
  unsigned sum = 0;
  for (const std::byte value : decoded) sum += std::to_integer<unsigned>(value);
  if (sum == 0xFFFFFFFF) __builtin_trap();
}

// Calls `action`, which may throw Error.
template <class Action>
void attempt(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    if (printable(error.what()) != error.what()) __builtin_trap();
  }
}

// Decodes the first frames of an animation, not in order. All have the same shape.
void decode_frames(std::span<const std::byte> bytes, const DecodeOptions& options) {
  const Codec* const codec = codec_by_content(bytes);
  if (codec == nullptr || codec->open_pages == nullptr || codec->format == Format::tiff) return;
  const InputFile file = InputFile::borrowed(bytes);
  const std::unique_ptr<Pages> pages = codec->open_pages(file, options);
  if (pages == nullptr) return;
  std::optional<Shape> shape;
  for (const std::int64_t index : {3, 1, 0, 2}) {
    if (index >= pages->size()) continue;
    attempt([&] {
      const InputFile page = pages->page(index, Pages::Part::all);
      const auto reader = open_reader(page, options);
      if (shape.value_or(reader->header().shape) != reader->header().shape) __builtin_trap();
      shape = reader->header().shape;
      read(*reader, options);
    });
  }
}

void decode(std::span<const std::byte> bytes, unsigned variant) {
  DecodeOptions options;
  options.max_pixels = kMaxPixels;
  constexpr Acceptance kAccepted[] = {Acceptance::strict, Acceptance::lenient, Acceptance::pillow};
  options.accept = kAccepted[variant % 3];
  const bool to_floats = variant >= 12;
  options.max_bits = to_floats ? 32 : variant % 2 != 0 ? 16 : 8;
  options.integers = to_floats ? IntegerRule::value : IntegerRule::range;
  // Other formats accept only 1, and so does stb.
  constexpr int kScales[kVariants] = {1, 1, 1, 2, 4, 8, 1, 1, 1, 1, 1, 1, 8, 2, 4};
  if (format_by_content(bytes) == Format::jpeg) options.scale = kScales[variant];
  options.codec = variant >= 6 && !to_floats ? CodecChoice::stb : CodecChoice::automatic;
  attempt([&] {
    (void)longest_file(bytes, options);
    read(*open_reader(bytes, options), options);
  });
  if (options.codec == CodecChoice::automatic) attempt([&] { decode_frames(bytes, options); });
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
