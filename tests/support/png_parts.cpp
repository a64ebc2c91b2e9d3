#include "tests/support/png_parts.h"

#include <cstdint>

#include <zlib.h>

#include "images/codecs/png/deflate.h"

namespace imgpipe::test {

Bytes chunk(std::string_view type, const Bytes& data) {
  const Bytes covered = bytes_of(type) + data;
  return number(static_cast<std::uint32_t>(data.size())) + covered + number(crc32_of(covered));
}

Bytes deflated(const Bytes& data) {
  uLongf size = compressBound(data.size());
  Bytes out(size);
  compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(data.data()),
            data.size(), 9);
  out.resize(size);
  return out;
}

}  // namespace imgpipe::test
