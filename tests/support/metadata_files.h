// Files with metadata, for tests of readers and writers.
#pragma once

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "images/codecs/mark.h"
#include "images/codecs/metadata/metadata.h"
#include "tests/support/file_parts.h"

namespace imgpipe::test {

// The formats whose writers store metadata.
inline constexpr Format kHolders[] = {Format::jpeg, Format::png, Format::webp, Format::tiff};

inline std::string xmp_packet(const std::string& inside) {
  return "<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF>" +
         inside + "</rdf:RDF></x:xmpmeta><?xpacket end='w'?>";
}

inline std::string text_of(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Returns a noise image in a file with `metadata`.
inline Bytes file_with(Format format, const Metadata& metadata, Shape shape = {17, 11, 3}) {
  EncodeOptions options;
  options.mark = Mark::result;
  options.metadata = std::make_shared<const Metadata>(metadata);
  const std::unique_ptr<Writer> writer = make_writer(format, shape, options);
  Image image(shape);
  std::mt19937_64 random(5);
  for (std::int64_t y = 0; y < shape.height; ++y)
    std::generate_n(image.view().row(y), shape.row_bytes(), [&] { return static_cast<Sample8>(random()); });
  writer->write_rows(std::as_const(image).untyped_view());
  return writer->finish().joined();
}

}  // namespace imgpipe::test
