#include "images/codecs/png/pillow_png_chunks.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "images/codecs/png/deflate.h"
#include "images/codecs/png/png_chunks.h"
#include "images/codecs/png/zlib_functions.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using namespace late_zlib;

constexpr std::size_t kPixelBlockBytes = 65'536;
constexpr std::size_t kMaxPillowText = std::size_t{1} << 20;
constexpr std::size_t kMaxPillowTexts = 64 * kMaxPillowText;
constexpr std::size_t kCrcBytes = 4;

[[noreturn]] void reject(const char* reason) {
  throw Error(ErrorKind::input, std::string("PNG: ") + reason);
}

bool is_type(std::span<const std::byte> type, std::string_view name) {
  return matches_at(type, 0, name);
}

bool is_word(std::byte c) {
  const auto letter = std::to_integer<unsigned char>(c);
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '_';
}

bool is_known_pair(int depth, int color_type) {
  switch (color_type) {
    case 0:
      return depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16;
    case 3:
      return depth == 1 || depth == 2 || depth == 4 || depth == 8;
    case 2:
    case 4:
    case 6:
      return depth == 8 || depth == 16;
    default:
      return false;
  }
}

// Returns the number of bytes of tRNS that a pixel is compared with.
std::size_t transparent_color_bytes(int color_type) {
  return color_type == 2 ? 6 : color_type == 0 ? 2 : 0;
}

// Returns the decompressed size of a text or profile; nullopt if it is damaged. Rejects more than 1 MiB, as
// Python's zlib notices it: input is left when the output is full.
std::optional<std::size_t> inflated_size(std::span<const std::byte> stream) {
  std::array<Bytef, 16'384> out;
  static_assert(kMaxPillowText % sizeof out == 0);
  z_stream zlib{};
  if (inflateInit(&zlib) != Z_OK) throw Error(ErrorKind::memory, "not enough memory");
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(stream.data()));
  zlib.avail_in = static_cast<uInt>(stream.size());
  int result = Z_OK;
  do {
    zlib.next_out = out.data();
    zlib.avail_out = static_cast<uInt>(out.size());
    result = inflate(&zlib, Z_SYNC_FLUSH);
  } while (result == Z_OK && zlib.avail_out == 0 && zlib.total_out < kMaxPillowText);
  const std::size_t left = zlib.avail_in, size = zlib.total_out;
  inflateEnd(&zlib);
  if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) return std::nullopt;
  if (left > 0 && result != Z_STREAM_END) reject("a text or profile of more than 1 MiB");
  return size;
}

// Splits at the first zero byte; nullopt if there is none.
std::optional<std::pair<std::span<const std::byte>, std::span<const std::byte>>> split_at_zero(
    std::span<const std::byte> data) {
  const auto zero = std::ranges::find(data, std::byte{0});
  if (zero == data.end()) return std::nullopt;
  const auto head = static_cast<std::size_t>(zero - data.begin());
  return std::pair(data.first(head), data.subspan(head + 1));
}

}  // namespace

PillowPngChunks::PillowPngChunks(std::span<const std::byte> file)
    : file_(file), at_(std::min(kPngSignatureBytes, file.size())) {
  for (;;) {
    const std::optional<Chunk> chunk = next_chunk();
    if (!chunk) reject("the file is truncated, or a chunk has no valid type");
    if (is_type(chunk->type, "IEND")) reject("no pixels");
    const std::size_t start = at_;
    if (begins_pixels(*chunk)) break;
    read_chunk(*chunk);
    const Bytes checked = file_.subspan(start - 4, at_ - start + 4);
    if (file_.size() - at_ < kCrcBytes || crc32_of(checked) != big_endian(file_, at_, kCrcBytes))
      reject("CRC error before the pixels");
    at_ += kCrcBytes;
  }
  if (header_.depth == 0 || header_.width == 0 || header_.height == 0) reject("no valid IHDR chunk");
  header_.frame = frame_.value_or(PillowPngFrame{0, 0, header_.width, header_.height});
  header_.of_animation = sequence_.has_value();
  const PillowPngFrame& frame = header_.frame;
  if (frame.width == 0 || frame.height == 0 || frame.left + frame.width > header_.width ||
      frame.top + frame.height > header_.height)
    reject("a frame without pixels or outside the image");
  if (frames_) animated_ = *frames_ + (default_image_ ? 1 : 0) > 1;
  if (header_.color_type == 3 && header_.palette.size() / 3 > 256)
    reject("a palette of more than 256 colours");
  // A second IHDR may have changed the colour type.
  if (header_.color_type != 3 && !header_.palette.empty()) reject("a palette for an image without indices");
  if (header_.color_type >= 4 || header_.transparency.size() < transparent_color_bytes(header_.color_type))
    header_.transparency = {};
  lacks_palette_ = header_.color_type == 3 && !has_palette_;
  check_palette();
}

// Pillow looks up the colour of a single transparent entry.
void PillowPngChunks::check_palette() const {
  const Bytes alphas = header_.transparency;
  const bool one_transparent =
      std::ranges::count(alphas, std::byte{0}) == 1 &&
      std::ranges::count(alphas, std::byte{0xFF}) + 1 == static_cast<std::ptrdiff_t>(alphas.size());
  if (lacks_palette_ && one_transparent) reject("no palette");
}

std::optional<PillowPngChunks::Chunk> PillowPngChunks::next_chunk() {
  if (file_.size() - at_ < 8) return std::nullopt;
  const Chunk chunk{file_.subspan(at_ + 4, 4), big_endian(file_, at_, 4)};
  at_ += 8;
  return std::ranges::all_of(chunk.type, is_word) ? std::optional(chunk) : std::nullopt;
}

// Also checks fdAT and reads its sequence number. Pixels before a valid IHDR are an unknown chunk.
bool PillowPngChunks::begins_pixels(const Chunk& chunk) {
  const bool of_frame = is_type(chunk.type, "fdAT");
  if (of_frame) {
    if (chunk.length < 4) reject("truncated fdAT chunk");
    const std::uint32_t number = big_endian(take(4), 0, 4);
    if (!sequence_) reject("frames out of order");
    count_sequence(number);
  }
  if (!of_frame && !is_type(chunk.type, "IDAT")) return false;
  if (frames_ && !frame_) default_image_ = true;
  if (header_.depth == 0) return false;
  pixels_left_ = chunk.length - (of_frame ? 4 : 0);
  return true;
}

PillowPngChunks::Bytes PillowPngChunks::take(std::size_t length) {
  if (file_.size() - at_ < length) reject("the file is truncated");
  const Bytes data = file_.subspan(at_, length);
  at_ += length;
  return data;
}

void PillowPngChunks::skip(std::size_t length) {
  at_ += std::min(length, file_.size() - at_);
}

std::span<const std::byte> PillowPngChunks::next_pixels() {
  while (pixels_left_ == 0) {
    skip(kCrcBytes);
    const std::optional<Chunk> chunk = next_chunk();
    if (chunk && is_type(chunk->type, "DDAT")) {
      pixels_left_ = chunk->length;
    } else if (!chunk || !begins_pixels(*chunk)) {
      reject("not enough compressed data");
    }
  }
  const std::size_t size = std::min({kPixelBlockBytes, pixels_left_, file_.size() - at_});
  if (size == 0) reject("the file is truncated");
  pixels_left_ -= std::min(kPixelBlockBytes, pixels_left_);
  return take(size);
}

bool PillowPngChunks::read_end() {
  skip(pixels_left_);
  for (;;) {
    skip(kCrcBytes);
    const std::optional<Chunk> chunk = next_chunk();
    const bool ends = !chunk || is_type(chunk->type, "IEND") || (animated_ && is_type(chunk->type, "fcTL"));
    if (ends) {
      check_palette();
      return chunk.has_value();
    }
    if (begins_pixels(*chunk)) {
      (void)take(pixels_left_);
    } else {
      read_chunk(*chunk);
    }
  }
}

void PillowPngChunks::read_chunk(const Chunk& chunk) {
  const Bytes data = take(chunk.length);
  const auto is = [&](std::string_view name) { return is_type(chunk.type, name); };
  const auto need = [&](std::string_view name, std::size_t least) {
    if (is(name) && data.size() < least) reject("truncated chunk");
  };
  need("gAMA", 4);
  need("cHRM", 32);
  need("sRGB", 1);
  need("pHYs", 9);
  need("IHDR", 13);
  need("acTL", 8);
  need("fcTL", 26);
  if (is("IHDR")) read_header(data);
  if (is("PLTE") && header_.color_type == 3) {
    header_.palette = data;
    has_palette_ = true;
  }
  if (is("tRNS")) read_transparency(data);
  if (is("acTL")) read_animation(data);
  if (is("fcTL")) read_frame(data);
  if (is("iCCP")) check_profile(data);
  if (is("tEXt") || is("zTXt") || is("iTXt")) read_text(chunk.type, data);
}

void PillowPngChunks::read_header(Bytes data) {
  header_.width = big_endian(data, 0, 4);
  header_.height = big_endian(data, 4, 4);
  const auto depth = static_cast<int>(big_endian(data, 8, 1));
  const auto color_type = static_cast<int>(big_endian(data, 9, 1));
  if (is_known_pair(depth, color_type)) {
    header_.depth = depth;
    header_.color_type = color_type;
  }
  if (data[12] != std::byte{0}) header_.interlaced = true;
  if (data[11] != std::byte{0}) reject("unknown filter method");
}

void PillowPngChunks::read_transparency(Bytes data) {
  if (header_.depth == 0 || header_.color_type >= 4) return;
  if (data.size() < transparent_color_bytes(header_.color_type)) reject("truncated tRNS chunk");
  header_.transparency = data;
}

void PillowPngChunks::read_animation(Bytes data) {
  const std::uint32_t frames = big_endian(data, 0, 4);
  if (frames_) {
    frames_.reset();
  } else if (frames > 0 && frames <= 0x8000'0000U) {
    frames_ = frames;
  }
}

void PillowPngChunks::count_sequence(std::uint32_t number) {
  if (number != (sequence_ ? *sequence_ + std::uint64_t{1} : 0)) reject("frames out of order");
  sequence_ = number;
}

void PillowPngChunks::read_frame(Bytes data) {
  count_sequence(big_endian(data, 0, 4));
  const PillowPngFrame frame{big_endian(data, 12, 4), big_endian(data, 16, 4), big_endian(data, 4, 4),
                             big_endian(data, 8, 4)};
  if (frame.left + frame.width > header_.width || frame.top + frame.height > header_.height)
    reject("a frame outside the image");
  frame_ = frame;
}

void PillowPngChunks::check_profile(Bytes data) const {
  const auto parts = split_at_zero(data);
  const Bytes rest = parts ? parts->second : data;
  if (rest.empty() || rest[0] != std::byte{0}) reject("unknown compression of the profile");
  (void)inflated_size(rest.subspan(1));
}

// Pillow limits the size of each compressed text, and of all texts.
void PillowPngChunks::read_text(Bytes type, Bytes data) {
  const auto keyed = split_at_zero(data);
  if (!keyed) return;
  Bytes text = keyed->second;
  bool compressed = is_type(type, "zTXt");
  if (compressed) {
    if (!text.empty() && text[0] != std::byte{0}) reject("unknown compression of a text");
    text = text.subspan(std::min<std::size_t>(text.size(), 1));
  } else if (is_type(type, "iTXt")) {
    if (text.size() < 2) return;
    compressed = text[0] != std::byte{0};
    const auto language = split_at_zero(text.subspan(2));
    const auto keyword = language ? split_at_zero(language->second) : std::nullopt;
    if (!keyword || (compressed && text[1] != std::byte{0})) return;
    text = keyword->second;
  }
  text_size_ += compressed ? inflated_size(text).value_or(0) : text.size();
  if (text_size_ > kMaxPillowTexts) reject("texts of more than 64 MiB");
}

}  // namespace imgpipe
