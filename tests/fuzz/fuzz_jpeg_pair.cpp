// Our own JPEG decoder against libjpeg-turbo: any difference of verdict, message, warnings or pixels ends the
// process. The last byte of the input is not part of the file: it selects how the file is read, with its size
// also the scale.
#include <array>
#include <cstdint>
#include <cstdio>
#include <span>

#include "images/codecs/codec.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/support/jpeg_pair.h"

IMGPIPE_FUZZ_TARGET(fuzz_jpeg_pair) {
  using namespace imgpipe;
  using namespace imgpipe::test;
  if (size < 4 || data[0] != 0xFF || data[1] != 0xD8) return 0;
  const auto file = std::as_bytes(std::span(data, size - 1));
  const unsigned choice = data[size - 1];
  const Acceptance accept = kEveryAcceptance[choice % kEveryAcceptance.size()];
  static constexpr std::array<Reading, 8> kReadings{
      {{},
       {5},
       {8, 1},
       {7, 1, 2},
       {16, 1, 4},
       {1, 1},
       {.rows = 6, .threads = 1, .common = 1, .backwards = true},
       {.rows = 19, .threads = 1, .backwards = true}}};
  Reading reading = kReadings[choice >> 1 & 7];
  if (choice >> 4 == 15) reading = {8, 2, 1};
  static constexpr std::array<std::size_t, 4> kPieces{0, 16, 50, 200};
  reading.scan_chunk_bytes = kPieces[choice >> 4 & 3];
  constexpr std::int64_t kMaxPixels = 1 << 14;
  DecodeOptions by_library = jpeg_options(CodecChoice::turbo, accept, kMaxPixels);
  DecodeOptions by_us = jpeg_options(CodecChoice::automatic, accept, kMaxPixels);
  by_library.scale = by_us.scale = 1 << (size + choice) % 4;
  const JpegOutcome expected = read_jpeg(file, by_library);
  const JpegOutcome got = read_jpeg(file, by_us, reading);
  const std::string what = difference(expected, got);
  if (what.empty()) return 0;
  std::fprintf(stderr, "%s, %s: %s\n", std::string(text_of(accept)).c_str(), text_of(reading).c_str(),
               what.c_str());
  __builtin_trap();
}
