#include "images/codecs/webp/webp_container.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kRiffHeader = 12;  // "RIFF", size, "WEBP"
constexpr std::size_t kChunkHeader = 8;  // name, size
constexpr std::size_t kCanvasBytes = 10;
constexpr std::size_t kFrameBytes = 16;
constexpr std::size_t kLosslessHeader = 5, kAlphaHeader = 1;
constexpr std::uint32_t kAnimated = 0x02, kExif = 0x08, kProfile = 0x20;  // flags of VP8X

[[noreturn]] void fail(const std::string& reason) {
  throw Error(ErrorKind::input, "WebP: " + reason);
}

void require(bool condition, const std::string& reason) {
  if (!condition) fail(reason);
}

struct Chunk {
  Bytes whole;    // from its name on; truncated if the file is
  Bytes payload;  // likewise
  bool is_truncated = false;

  [[nodiscard]] bool is(std::string_view name) const { return matches_at(whole, 0, name); }
};

// Removes the next chunk from `rest`. A chunk of odd size is followed by a padding byte, which some writers
// omit after the last one.
std::optional<Chunk> next_chunk(Bytes& rest) {
  if (rest.empty()) return std::nullopt;
  const std::size_t size = little_endian(rest, 4, 4);
  const std::size_t capacity = rest.size() < kChunkHeader ? 0 : rest.size() - kChunkHeader;
  Chunk chunk;
  chunk.is_truncated = rest.size() < kChunkHeader || size > capacity;
  chunk.whole = chunk.is_truncated ? rest : rest.first(kChunkHeader + size);
  if (rest.size() >= kChunkHeader) chunk.payload = chunk.whole.subspan(kChunkHeader);
  rest = rest.subspan(std::min(rest.size(), chunk.whole.size() + (size & 1)));
  return chunk;
}

// Reads the header of a key frame (RFC 6386, section 9.1).
bool read_lossy_header(const Chunk& chunk, WebpImage& picture) {
  const Bytes header = bytes_at(chunk.payload, 0, 10);
  const std::uint32_t tag = little_endian(header, 0, 3);
  const bool key_frame = (tag & 1) == 0, shown = (tag & 0x10) != 0;
  const std::size_t declared_bytes = little_endian(chunk.whole, 4, 4);
  if (header.empty() || !key_frame || !shown || (tag >> 1 & 7) > 3 || tag >> 5 >= declared_bytes)
    return false;
  if (!matches_at(header, 3, "\x9D\x01\x2A"sv)) return false;
  picture.width = little_endian(header, 6, 2) & 0x3FFF;
  picture.height = little_endian(header, 8, 2) & 0x3FFF;
  return picture.width > 0 && picture.height > 0;
}

// RFC 9649, section 3.4.
bool read_lossless_header(const Chunk& chunk, WebpImage& picture) {
  const Bytes header = bytes_at(chunk.payload, 0, kLosslessHeader);
  if (header.empty() || !matches_at(header, 0, "\x2F"sv)) return false;
  const std::uint32_t bits = little_endian(header, 1, 4);
  picture.width = static_cast<std::int64_t>(bits & 0x3FFF) + 1;
  picture.height = static_cast<std::int64_t>(bits >> 14 & 0x3FFF) + 1;
  picture.has_alpha = (bits >> 28 & 1) != 0;
  return bits >> 29 == 0;
}

// Collects an image from consecutive chunks of a file or a frame.
class ImageChunks {
 public:
  [[nodiscard]] bool found() const { return found_; }
  [[nodiscard]] const WebpImage& picture() const { return picture_; }

  void take(const Chunk& chunk) {
    if (found_) return;
    if (chunk.is("ALPH")) {
      if (alpha_.empty()) alpha_ = chunk.whole;
      packed_alpha_ = packed_alpha_ || (little_endian(chunk.payload, 0, 1) & 3) != 0;
      packed_ =
          chunk.payload.subspan(std::min(chunk.payload.size(), kAlphaHeader));  // libwebp uses the last one
    }
    const bool lossy = chunk.is("VP8 ");
    if (!lossy && !chunk.is("VP8L")) return;
    found_ = true;
    picture_.lossless = !lossy;
    if (!(lossy ? read_lossy_header(chunk, picture_) : read_lossless_header(chunk, picture_)))
      fail(chunk.is_truncated ? "the file is truncated" : "the image header is damaged");
    picture_.data = chunk.whole;
    if (!lossy) picture_.codes = chunk.payload.subspan(kLosslessHeader);
    if (!lossy || alpha_.empty()) return;
    picture_.has_alpha = true;
    picture_.packed_alpha = packed_alpha_;
    picture_.codes = packed_;
    // Includes any chunks between the ALPH and the VP8 chunk, which libwebp skips too.
    picture_.data = Bytes(alpha_.data(), chunk.whole.data() + chunk.whole.size());
  }

 private:
  WebpImage picture_;
  Bytes alpha_, packed_;
  bool packed_alpha_ = false;
  bool found_ = false;
};

std::int64_t le24(Bytes bytes, std::size_t at) {
  return little_endian(bytes, at, 3);
}

// Reads the position and the chunks of a frame (section 2.7.1.1). `name`: of the frame, in messages.
WebpImage read_frame(const Chunk& frame, const WebpSize& canvas, const std::string& name) {
  if (frame.payload.size() < kFrameBytes)
    fail(frame.is_truncated ? "the file is truncated" : name + " is damaged");
  ImageChunks chunks;
  Bytes rest = frame.payload.subspan(kFrameBytes);
  while (const std::optional<Chunk> chunk = next_chunk(rest)) {
    require(frame.is_truncated || chunks.found() || !chunk->is_truncated, "a chunk exceeds its frame");
    chunks.take(*chunk);
  }
  if (!chunks.found()) fail(frame.is_truncated ? "the file is truncated" : "no image in " + name);
  WebpImage picture = chunks.picture();
  picture.x = 2 * le24(frame.payload, 0);
  picture.y = 2 * le24(frame.payload, 3);
  require(le24(frame.payload, 6) + 1 == picture.width && le24(frame.payload, 9) + 1 == picture.height,
          name + " differs in size from its image");
  require(picture.x + picture.width <= canvas.width && picture.y + picture.height <= canvas.height,
          name + " exceeds the image");
  return picture;
}

// Returns the part of the file that the RIFF header claims, as far as it is present.
Bytes riff_payload(Bytes file, WebpContents& contents) {
  require(file.size() >= kRiffHeader + kChunkHeader, "the header is truncated");
  const std::size_t declared_bytes = kChunkHeader + std::size_t{little_endian(file, 4, 4)};
  require(declared_bytes >= kRiffHeader + kChunkHeader, "the file size in the RIFF header is too small");
  if (declared_bytes > file.size()) {
    contents.faults.emplace_back("the file is truncated");
    return file.subspan(kRiffHeader);
  }
  const std::size_t end = std::min(file.size(), declared_bytes + (declared_bytes & 1));
  if (end < file.size())
    contents.following = following_bytes(file.size() - end, format_by_content(file.subspan(end)).has_value());
  return file.subspan(kRiffHeader, declared_bytes - kRiffHeader);
}

// The chunks after VP8X (section 2.7).
class ExtendedChunks {
 public:
  ExtendedChunks(const Chunk& canvas, WebpContents& contents) : contents_(contents) {
    if (canvas.payload.size() != kCanvasBytes)
      fail(canvas.is_truncated ? "the file is truncated" : "the VP8X chunk is damaged");
    flags_ = little_endian(canvas.payload, 0, 1);
    contents.width = le24(canvas.payload, 4) + 1;
    contents.height = le24(canvas.payload, 7) + 1;
    require(contents.width * contents.height <= 0xFFFF'FFFF, "the canvas is too large");
  }

  void take(const Chunk& chunk) {
    if (has(kProfile) && chunk.is("ICCP") && contents_.profile.empty() && !found_)
      contents_.profile = chunk.payload;
    if (has(kExif) && chunk.is("EXIF") && contents_.exif.empty()) contents_.exif = chunk.payload;
    if (has(kAnimated)) {
      take_of_animation(chunk);
    } else {
      still_.take(chunk);
      found_ = still_.found();
    }
  }

  void finish() {
    if (has(kAnimated) || !found_) return;
    contents_.picture = still_.picture();
    require(contents_.image_covers_canvas(), "the image differs in size from the canvas");
  }

  [[nodiscard]] bool found() const { return found_; }

 private:
  [[nodiscard]] bool has(std::uint32_t flag) const { return (flags_ & flag) != 0; }

  void take_of_animation(const Chunk& chunk) {
    began_ = began_ || chunk.is("ANIM");
    if (!chunk.is("ANMF")) return;
    require(began_, "frame before the ANIM chunk");
    if (found_) {
      contents_.has_more_images = true;
      return;
    }
    contents_.picture = read_frame(chunk, {contents_.width, contents_.height}, "the first frame");
    found_ = true;
  }

  WebpContents& contents_;
  std::uint32_t flags_ = 0;
  ImageChunks still_;
  bool began_ = false, found_ = false;
};

// The chunks that the RIFF header claims, as far as they are present.
Bytes chunks_of(Bytes file) {
  const std::size_t declared_bytes = kChunkHeader + std::size_t{little_endian(file, 4, 4)};
  return file.subspan(kRiffHeader, std::min(file.size(), declared_bytes) - kRiffHeader);
}

AnimationFrame animation_frame_of(const Chunk& chunk, const WebpSize& canvas) {
  AnimationFrame frame{.blends = true, .duration_ms = 0.0};
  try {
    const WebpImage image = read_frame(chunk, canvas, "the frame");
    constexpr std::uint32_t kDisposes = 1, kReplaces = 2;
    const std::uint32_t flags = little_endian(chunk.payload, 15, 1);
    frame.area = {image.x, image.y, image.width, image.height};
    frame.disposal =
        (flags & kDisposes) != 0 ? AnimationFrame::Disposal::clear : AnimationFrame::Disposal::keep;
    frame.blends = (flags & kReplaces) == 0;
    frame.opaque = !image.has_alpha;
    frame.duration_ms = static_cast<double>(le24(chunk.payload, 12));
  } catch (const Error& error) {
    frame.fault = error.what();
  }
  return frame;
}

}  // namespace

FrameList read_webp_frames(Bytes file) {
  FrameList list;
  const WebpSize canvas = webp_size(file);
  Bytes rest = chunks_of(file);
  const std::optional<Chunk> header = next_chunk(rest);
  if (!header || !header->is("VP8X") || (little_endian(header->payload, 0, 1) & kAnimated) == 0) return list;
  while (const std::optional<Chunk> chunk = next_chunk(rest)) {
    if (!chunk->is("ANMF") || list.frames.size() > kMaxFrames) continue;
    list.frames.push_back(animation_frame_of(*chunk, canvas));
    list.frames.back().at = static_cast<std::size_t>(chunk->whole.data() - file.data());
  }
  return list;
}

WebpImage read_webp_frame(Bytes file, const AnimationFrame& frame) {
  const Bytes chunks = chunks_of(file);
  Bytes rest = chunks.subspan(frame.at - kRiffHeader);
  return read_frame(*next_chunk(rest), webp_size(file), "the frame");
}

std::vector<std::byte> webp_metadata_file(Bytes file) {
  std::vector<std::byte> out(file.begin(), file.begin() + kRiffHeader);
  Bytes rest = chunks_of(file);
  while (const std::optional<Chunk> chunk = next_chunk(rest)) {
    if (chunk->is("ANMF") || chunk->is_truncated) continue;
    out.insert(out.end(), chunk->whole.begin(), chunk->whole.end());
    if (out.size() % 2 != 0) out.push_back(std::byte{0});
  }
  return out;
}

WebpContents read_webp_contents(Bytes file) {
  WebpContents contents;
  Bytes rest = riff_payload(file, contents);
  const bool truncated = file.size() < kChunkHeader + std::size_t{little_endian(file, 4, 4)};
  std::optional<Chunk> chunk = next_chunk(rest);
  std::optional<ExtendedChunks> extended;
  ImageChunks simple;
  if (chunk->is("VP8X")) {
    extended.emplace(*chunk, contents);
  } else {
    require(chunk->is("VP8 ") || chunk->is("VP8L"), "the first chunk is not an image");
    simple.take(*chunk);
  }
  while (true) {
    if (chunk->is_truncated && !truncated) contents.faults.emplace_back("a chunk exceeds the file");
    chunk = next_chunk(rest);
    if (!chunk) break;
    if (extended) extended->take(*chunk);
  }
  if (extended) {
    if (!extended->found()) fail(truncated ? "the file is truncated" : "no image in the file");
    extended->finish();
  } else {
    contents.picture = simple.picture();
    contents.width = contents.picture.width;
    contents.height = contents.picture.height;
  }
  return contents;
}

WebpSize webp_size(Bytes beginning) {
  if (matches_at(beginning, 12, "VP8X"sv) && beginning.size() >= 30)
    return {le24(beginning, 24) + 1, le24(beginning, 27) + 1};
  Bytes rest = beginning.subspan(std::min(beginning.size(), kRiffHeader));
  const std::optional<Chunk> chunk = next_chunk(rest);
  WebpImage picture;
  if (!chunk) return {};
  const bool read = chunk->is("VP8 ")   ? read_lossy_header(*chunk, picture)
                    : chunk->is("VP8L") ? read_lossless_header(*chunk, picture)
                                        : false;
  return read ? WebpSize{picture.width, picture.height} : WebpSize{};
}

}  // namespace imgpipe
