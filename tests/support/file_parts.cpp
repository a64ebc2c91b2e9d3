#include "tests/support/file_parts.h"

#include <span>
#include <utility>

#include "images/error.h"
#include "images/synth.h"

namespace imgpipe::test {

Decoded try_decode(const Bytes& bytes, const DecodeOptions& options) {
  Decoded result;
  try {
    const auto reader = open_reader(bytes, options);
    result.header = reader->header();
    Image image(reader->header().shape);
    reader->read_rows(image.view());
    result.image = std::move(image);
    result.warnings = reader->warnings();
  } catch (const Error& error) {
    result.reason = error.what();
  }
  return result;
}

Decoded decode_leniently(const Bytes& bytes) {
  DecodeOptions options;
  options.accept = Acceptance::lenient;
  return try_decode(bytes, options);
}

Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Bytes number(std::uint32_t value, int bytes) {
  Bytes out;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    out.push_back(static_cast<std::byte>(value >> shift));
  return out;
}

Bytes encoded(Format format, int channels) {
  const Image image =
      channels == 2 ? Image({16, 12, 2}) : synthesize(parse_pattern("photo"), {16, 12, channels}, 1);
  const auto writer = make_writer(format, image.shape());
  writer->write_rows(image.view());
  return writer->finish().joined();
}

Bytes turned_exif() {
  return bytes_of("MM") + number(42, 2) + number(8) + number(1, 2) + number(0x0112, 2) + number(3, 2) +
         number(1) + number(6, 2) + number(0, 2) + number(0);
}

}  // namespace imgpipe::test
