// How a PNG is stored, by its chunks (PNG specification, 3rd edition, clause 11.2.1).
#include <array>
#include <string>

#include "images/codecs/codec_parts.h"
#include "images/codecs/file_details.h"
#include "images/codecs/png/png_chunks.h"
#include "images/codecs/sniff.h"
#include "images/files/file_front.h"

namespace imgpipe {
namespace {

constexpr std::size_t kSignatureBytes = 8, kChunkOverhead = 12;

}  // namespace

FileDetails describe_png(Bytes file) {
  FileDetails details{.compression = "deflate", .decoder = "libpng"};
  switch (big_endian(file, 25, 1)) {
    case 0:
    case 4:
      details.color = "grey";
      break;
    case 3:
      details.color = "palette";
      break;
    default:
      details.color = "RGB";
  }
  constexpr std::array<int, 7> kChannels{1, 0, 3, 1, 2, 0, 4};
  details.channels = kChannels[std::min<std::size_t>(big_endian(file, 25, 1), kChannels.size() - 1)];
  if (big_endian(file, 28, 1) == 1) details.layout = "interlaced (Adam7)";
  for (auto chunk = png_chunk_at(file, kSignatureBytes); chunk; chunk = png_chunk_at(file, chunk->end())) {
    if (is_png_type(file, *chunk, "IDAT")) break;
    if (!is_png_type(file, *chunk, "acTL")) continue;
    details.images = std::max<std::int64_t>(big_endian(chunk->data(file), 0, 4), 1);
    details.variant = "animated (APNG)";
  }
  return details;
}

// Of chunks of pixels no more than where they end.
void load_png_chunks(FileFront& front) {
  const Bytes file = front.bytes();
  front.load(0, kSignatureBytes);
  for (std::size_t at = kSignatureBytes; at < file.size();) {
    front.load(at, kChunkOverhead);
    const auto chunk = png_chunk_at(file, at);
    if (!chunk) {
      front.load(at, std::size_t{64} << 10);  // of a file that is cut here
      return;
    }
    if (!is_png_type(file, *chunk, "IDAT")) front.load(at, chunk->end() - at);
    at = chunk->end();
    if (is_png_type(file, *chunk, "IEND")) return;
  }
}

}  // namespace imgpipe
