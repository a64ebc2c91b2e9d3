#include "tests/support/webp_file.h"

#include <cstring>
#include <stdexcept>

#include <webp/decode.h>
#include <webp/encode.h>

namespace imgpipe::test {
namespace {

int append(const std::uint8_t* data, std::size_t size, const WebPPicture* picture) {
  auto* file = static_cast<Bytes*>(picture->custom_ptr);
  const auto* first = reinterpret_cast<const std::byte*>(data);
  file->insert(file->end(), first, first + size);
  return 1;
}

void require(bool condition) {
  if (!condition) throw std::runtime_error("libwebp does not make the file");
}

// Writes bits with the lowest bit of a byte first.
class Bits {
 public:
  void put(unsigned value, int count) {
    for (int i = 0; i < count; ++i, ++used_) {
      if (used_ % 8 == 0) bytes_.emplace_back();
      bytes_.back() |= static_cast<std::byte>((value >> i & 1) << used_ % 8);
    }
  }
  // Writes a symbol of a code with 256 symbols of 8 bits each, highest bit first.
  void put_symbol(unsigned symbol) {
    for (int i = 8; i-- > 0;) put(symbol >> i, 1);
  }
  // Writes a code with a single symbol, whose use takes no bits: 0 or 1 in one bit, any other in 8 bits.
  void put_single_code(unsigned symbol) {
    put(symbol > 1 ? 0b101 : 0b001, 3);
    put(symbol, symbol > 1 ? 8 : 1);
  }
  // Writes a code with two symbols of one bit each.
  void put_pair_code(unsigned first, unsigned second) {
    put(0b111, 3);
    put(first, 8);
    put(second, 8);
  }
  // Writes a code for symbols 0 to 255 with 8 bits each. Its lengths use a code with the single length 8.
  void put_full_code() {
    constexpr int kPlaceOf8 = 11, kMinGiven = 4;
    put(0, 1);
    put(kPlaceOf8 + 1 - kMinGiven, 4);
    for (int i = 0; i <= kPlaceOf8; ++i) put(i == kPlaceOf8 ? 1 : 0, 3);
    put(1, 1);  // the number of lengths: 2 + 254, with 2 + 2 * 3 bits
    put(3, 3);
    put(254, 8);
  }
  [[nodiscard]] Bytes bytes() const { return bytes_; }

 private:
  Bytes bytes_;
  std::size_t used_ = 0;
};

std::uint32_t read_number(const Bytes& file, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = value << 8 | std::to_integer<std::uint32_t>(file.at(at + i));
  return value;
}

}  // namespace

Bytes make_webp(const WebpKind& kind, ConstHostPlane pixels) {
  WebPConfig config;
  require(WebPConfigInit(&config) != 0);
  if (kind.lossless) {
    require(WebPConfigLosslessPreset(&config, kind.effort) != 0);
  } else {
    config.quality = static_cast<float>(kind.quality);
    config.method = kind.effort;
    config.alpha_compression = kind.raw_alpha ? 0 : 1;
  }
  config.exact = 1;
  WebPPicture picture;
  require(WebPPictureInit(&picture) != 0);
  Bytes file;
  picture.use_argb = kind.lossless ? 1 : 0;
  picture.width = static_cast<int>(pixels.width);
  picture.height = static_cast<int>(pixels.height);
  picture.writer = append;
  picture.custom_ptr = &file;
  const int stride = static_cast<int>(pixels.stride);
  require((pixels.channels == 4 ? WebPPictureImportRGBA : WebPPictureImportRGB)(&picture, pixels.data,
                                                                                stride) != 0);
  const bool encoded = WebPEncode(&config, &picture) != 0;
  WebPPictureFree(&picture);
  require(encoded);
  return file;
}

Bytes picture_chunks(const Bytes& file) {
  Bytes chunks;
  for (std::size_t at = 12; at < file.size();) {
    const std::size_t size = 8 + std::size_t{read_number(file, at + 4)};
    const std::size_t end = std::min(file.size(), at + size + size % 2);
    if (std::memcmp(&file[at], "VP8X", 4) != 0)
      chunks.insert(chunks.end(), file.begin() + static_cast<std::ptrdiff_t>(at),
                    file.begin() + static_cast<std::ptrdiff_t>(end));
    at = end;
  }
  return chunks;
}

Bytes grouped_stream(const GroupedStream& form) {
  Bits bits;
  bits.put(0, 1);  // no transform
  bits.put(form.cache_bits > 0 ? 1 : 0, 1);
  if (form.cache_bits > 0) bits.put(static_cast<unsigned>(form.cache_bits), 4);
  bits.put(1, 1);  // groups of codes, for blocks of 2^(2 + 0) pixels
  bits.put(0, 3);
  bits.put(0, 1);  // their image has no cache
  for (int i = 0; i < 2; ++i) bits.put_full_code();
  for (int i = 0; i < 2; ++i) bits.put_single_code(0);
  if (form.distances.size() > 1) {
    bits.put_pair_code(form.distances[0], form.distances[1]);
  } else {
    bits.put_single_code(form.distances[0]);
  }
  const std::int64_t blocks = (form.width + 3) / 4 * ((form.height + 3) / 4);
  for (std::int64_t i = 0; i < blocks; ++i) {
    const auto number = static_cast<unsigned>(form.first + form.step * (i % form.groups));
    bits.put_symbol(number & 0xFF);
    bits.put_symbol(number >> 8);
  }
  for (int group = 0; group <= form.first + form.step * (form.groups - 1); ++group)
    for (const unsigned symbol : {0U, 0U, 0U, 255U, 0U}) bits.put_single_code(symbol);
  return bits.bytes();
}

Bytes lossless_chunk(std::int64_t width, std::int64_t height, const Bytes& stream) {
  const auto size = static_cast<std::uint32_t>((width - 1) | (height - 1) << 14);
  return riff_chunk("VP8L", bytes_of("\x2F") + riff_number(size, 4) + stream);
}

Bytes riff_number(std::uint32_t value, int bytes) {
  Bytes number;
  for (int i = 0; i < bytes; ++i) number.push_back(static_cast<std::byte>(value >> (8 * i)));
  return number;
}

Bytes riff_chunk(std::string_view name, const Bytes& payload) {
  Bytes chunk = bytes_of(name) + riff_number(static_cast<std::uint32_t>(payload.size()), 4) + payload;
  if (payload.size() % 2 != 0) chunk.push_back(std::byte{0});
  return chunk;
}

Bytes riff_file(const Bytes& chunks) {
  return bytes_of("RIFF") + riff_number(static_cast<std::uint32_t>(chunks.size() + 4), 4) + bytes_of("WEBP") +
         chunks;
}

Bytes vp8x(int flags, std::int64_t width, std::int64_t height) {
  return riff_chunk("VP8X", riff_number(static_cast<std::uint32_t>(flags), 4) +
                                riff_number(static_cast<std::uint32_t>(width - 1), 3) +
                                riff_number(static_cast<std::uint32_t>(height - 1), 3));
}

Bytes anim() {
  return riff_chunk("ANIM", riff_number(0xFFFFFFFF, 4) + riff_number(0, 2));
}

Bytes anmf(std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height, const Bytes& picture) {
  Bytes head;
  for (const std::int64_t value : {x / 2, y / 2, width - 1, height - 1, std::int64_t{100}})
    head = head + riff_number(static_cast<std::uint32_t>(value), 3);
  return riff_chunk("ANMF", head + riff_number(0, 1) + picture);
}

Image library_rgba(const Bytes& file) {
  int width = 0, height = 0;
  std::uint8_t* pixels =
      WebPDecodeRGBA(reinterpret_cast<const std::uint8_t*>(file.data()), file.size(), &width, &height);
  if (pixels == nullptr) return {};
  Image image({width, height, 4});
  for (std::int64_t y = 0; y < height; ++y)
    std::memcpy(image.view().row(y), pixels + y * width * 4, static_cast<std::size_t>(width) * 4);
  WebPFree(pixels);
  return image;
}

}  // namespace imgpipe::test
