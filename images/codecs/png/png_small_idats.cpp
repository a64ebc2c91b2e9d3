#include "images/codecs/png/png_small_idats.h"

#include <algorithm>
#include <optional>

#include "images/codecs/png/deflate.h"
#include "images/codecs/png/png_chunks.h"
#include "images/codecs/sniff.h"

namespace imgpipe {
namespace {

constexpr std::size_t kHeadBytes = 8;  // a chunk's length and type

void put_number(std::span<std::byte> out, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) out[i] = static_cast<std::byte>(value >> (24 - 8 * i));
}

}  // namespace

SmallIdatSource::SmallIdatSource(std::span<const std::byte> file)
    : file_(file),
      at_(std::min(kPngSignatureBytes, file.size())),
      part_(file.first(std::min(kPngSignatureBytes, file.size()))) {}

bool SmallIdatSource::read(std::span<std::byte> out) {
  while (!out.empty()) {
    if (part_.empty() && !next_part()) return false;
    const std::size_t count = std::min(out.size(), part_.size());
    std::ranges::copy(part_.first(count), out.begin());
    part_ = part_.subspan(count);
    out = out.subspan(count);
  }
  return true;
}

bool SmallIdatSource::next_part() {
  while (idat_left_.empty()) {
    if (file_.size() - at_ < kHeadBytes) return false;
    const std::size_t left = file_.size() - at_;
    const std::size_t length = big_endian(file_, at_, 4);
    const std::size_t whole = std::min(left, length + kHeadBytes + 4);
    if (matches_at(file_, at_ + 4, "IDAT")) {
      idat_left_ = file_.subspan(at_ + kHeadBytes, std::min(left - kHeadBytes, length));
      at_ += whole;
    } else {
      part_ = file_.subspan(at_, whole);
      at_ += whole;
      return true;
    }
  }
  make_small_chunk();
  return true;
}

void SmallIdatSource::make_small_chunk() {
  const std::size_t count = std::min(idat_left_.size(), kDataBytes);
  const std::span<std::byte> segment(piece_);
  put_number(segment, static_cast<std::uint32_t>(count));
  std::ranges::transform(std::string_view("IDAT"), segment.begin() + 4,
                         [](char c) { return static_cast<std::byte>(c); });
  std::ranges::copy(idat_left_.first(count), segment.begin() + kHeadBytes);
  put_number(segment.subspan(kHeadBytes + count), crc32_of(segment.subspan(4, 4 + count)));
  idat_left_ = idat_left_.subspan(count);
  part_ = std::span<const std::byte>(segment).first(kHeadBytes + count + 4);
}

std::int64_t count_wrong_idat_crcs(std::span<const std::byte> file) {
  std::int64_t wrong = 0;
  std::optional<PngChunk> chunk = png_chunk_at(file, kPngSignatureBytes);
  for (; chunk; chunk = png_chunk_at(file, chunk->end())) {
    if (is_png_type(file, *chunk, "IDAT") && !has_valid_crc(file, *chunk)) ++wrong;
  }
  return wrong;
}

}  // namespace imgpipe
