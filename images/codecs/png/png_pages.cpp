// The frames of an animated PNG (PNG specification, 3rd edition, 11.3.6). Each becomes a small separate
// PNG. A default image that is not a frame is the first page, as in Pillow.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "images/codecs/animation.h"
#include "images/codecs/metadata/metadata.h"
#include "images/codecs/png/png_chunks.h"
#include "images/codecs/png/png_codec.h"
#include "images/codecs/png/png_frames.h"
#include "images/codecs/png/png_texts.h"
#include "images/codecs/sniff.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;
using Disposal = AnimationFrame::Disposal;

constexpr std::size_t kIhdrBytes = 13, kSequenceBytes = 4;

bool is_any_of(Bytes file, const PngChunk& chunk, std::initializer_list<const char*> types) {
  for (const char* type : types)
    if (is_png_type(file, chunk, type)) return true;
  return false;
}

AnimationFrame controlled_frame(Bytes file, const PngChunk& chunk) {
  AnimationFrame frame{.blends = true, .duration_ms = 0.0, .at = chunk.end()};
  const Bytes data = chunk.data(file);
  const auto number = [&](std::size_t at, std::size_t bytes) { return big_endian(data, at, bytes); };
  const FrameArea area{number(12, 4), number(16, 4), number(4, 4), number(8, 4)};
  const std::uint32_t disposal = number(24, 1), blending = number(25, 1);
  constexpr std::uint32_t kMaxDisposal = 2, kMaxBlending = 1;
  if (data.size() != 26 || !has_valid_crc(file, chunk)) {
    frame.fault = "PNG: the fcTL chunk of the frame is damaged";
  } else if (area.width == 0 || area.height == 0) {
    frame.fault = "PNG: the frame has no pixels";
  } else if (!area.is_within(big_endian(file, 16, 4), big_endian(file, 20, 4))) {
    frame.fault = "PNG: the frame exceeds the image";
  } else if (disposal > kMaxDisposal || blending > kMaxBlending) {
    frame.fault = "PNG: the frame has an unknown disposal or blending";
  }
  if (!frame.fault.empty()) return frame;
  constexpr Disposal kDisposals[] = {Disposal::keep, Disposal::clear, Disposal::restore};
  const std::uint32_t divisor = number(22, 2);
  frame.area = area;
  frame.disposal = kDisposals[disposal];
  frame.blends = blending == 1;
  frame.duration_ms = 1000.0 * number(20, 2) / (divisor == 0 ? 100 : divisor);
  return frame;
}

// Copies a chunk with other data. A wrong checksum stays wrong.
void append_changed_chunk(std::vector<std::byte>& out, Bytes file, const PngChunk& chunk,
                          std::string_view type, Bytes data) {
  append_png_chunk(out, type, data);
  if (!has_valid_crc(file, chunk)) out.back() ^= std::byte{1};
}

// Copies the pixels' chunks from `at` on as IDAT: IDAT, or fdAT without the sequence numbers.
void append_pixels(std::vector<std::byte>& out, Bytes file, std::size_t at) {
  for (auto chunk = png_chunk_at(file, at); chunk; chunk = png_chunk_at(file, chunk->end())) {
    if (is_any_of(file, *chunk, {"fcTL", "IEND"})) return;
    const Bytes data = chunk->data(file);
    if (is_png_type(file, *chunk, "IDAT")) append_changed_chunk(out, file, *chunk, "IDAT"sv, data);
    if (is_png_type(file, *chunk, "fdAT") && data.size() >= kSequenceBytes)
      append_changed_chunk(out, file, *chunk, "IDAT"sv, data.subspan(kSequenceBytes));
  }
}

OpenFrame open_png_frame(Bytes file, const AnimationFrame& frame, const DecodeOptions& options) {
  const auto header = png_chunk_at(file, kPngSignatureBytes);
  std::vector<std::byte> ihdr;
  append_big_endian(ihdr, static_cast<std::size_t>(frame.area.width), 4);
  append_big_endian(ihdr, static_cast<std::size_t>(frame.area.height), 4);
  const Bytes rest = header->data(file).subspan(8, kIhdrBytes - 8);
  ihdr.insert(ihdr.end(), rest.begin(), rest.end());
  OpenFrame opened{.file{file.begin(), file.begin() + kPngSignatureBytes}, .reader = nullptr};
  append_png_chunk(opened.file, "IHDR"sv, ihdr);
  for (auto chunk = png_chunk_at(file, header->end()); chunk && !is_png_type(file, *chunk, "IDAT");
       chunk = png_chunk_at(file, chunk->end())) {
    if (is_any_of(file, *chunk, {"PLTE", "tRNS"}))
      append_changed_chunk(opened.file, file, *chunk, is_png_type(file, *chunk, "PLTE") ? "PLTE"sv : "tRNS"sv,
                           chunk->data(file));
  }
  append_pixels(opened.file, file, frame.at);
  append_png_chunk(opened.file, "IEND"sv, {});
  opened.reader = open_png(opened.file, options);
  return opened;
}

// Everything except the frames; an empty IDAT chunk shows which chunks precede the pixels.
std::vector<std::byte> png_metadata_file(Bytes file) {
  std::vector<std::byte> out(file.begin(), file.begin() + kPngSignatureBytes);
  bool pixels_begun = false;
  for (auto chunk = png_chunk_at(file, kPngSignatureBytes); chunk; chunk = png_chunk_at(file, chunk->end())) {
    if (is_png_type(file, *chunk, "IDAT") && !std::exchange(pixels_begun, true))
      append_png_chunk(out, "IDAT"sv, {});
    if (is_any_of(file, *chunk, {"IDAT", "acTL", "fcTL", "fdAT"})) continue;
    const Bytes whole = file.subspan(chunk->start, chunk->end() - chunk->start);
    out.insert(out.end(), whole.begin(), whole.end());
    if (is_png_type(file, *chunk, "IEND")) break;
  }
  return out;
}

}  // namespace

FrameList png_frames(Bytes file) {
  FrameList list;
  constexpr std::uint32_t kAlphaType = 4;
  const FrameArea whole{0, 0, big_endian(file, 16, 4), big_endian(file, 20, 4)};
  bool opaque = (big_endian(file, 25, 1) & kAlphaType) == 0;
  std::uint32_t declared = 0, sequence = 0;
  std::optional<AnimationFrame> control;  // of the image in IDAT chunks
  bool is_frame = false, pixels_begun = false;
  for (auto chunk = png_chunk_at(file, kPngSignatureBytes); chunk && list.frames.size() <= kMaxFrames;
       chunk = png_chunk_at(file, chunk->end())) {
    const auto is = [&](const char* type) { return is_png_type(file, *chunk, type); };
    if (is("IEND")) break;
    if (is("tRNS")) opaque = false;
    if (is("acTL") && !pixels_begun) declared = big_endian(chunk->data(file), 0, 4);
    if (is("IDAT") && !std::exchange(pixels_begun, true)) {
      AnimationFrame frame{.disposal = Disposal::clear};
      is_frame = control.has_value();
      if (control) frame = *control;
      frame.area = whole;
      frame.opaque = opaque;
      frame.at = chunk->start;
      frame.fault.clear();
      list.frames.push_back(std::move(frame));
    }
    const bool controls = is("fcTL");
    if (controls && !pixels_begun) control = controlled_frame(file, *chunk);
    if (controls && pixels_begun) {
      list.frames.push_back(controlled_frame(file, *chunk));
      list.frames.back().opaque = opaque;
    }
    if (!controls && !is("fdAT")) continue;
    const std::uint32_t number = big_endian(chunk->data(file), 0, 4);
    if (number != sequence && pixels_begun && list.frames.back().duration_ms)
      list.frames.back().fault = "PNG: the chunks of the frame are out of order";
    sequence = number + 1;
  }
  if (declared == 0) return {};
  const std::size_t found = list.frames.size() - (is_frame || list.frames.empty() ? 0 : 1);
  if (found != declared)
    list.fault = "PNG: the acTL chunk declares " + std::to_string(declared) + " frames, but the file has " +
                 std::to_string(found);
  return list;
}

std::unique_ptr<Pages> open_png_pages(const InputFile& file, const DecodeOptions& options) {
  return open_animation(file, options,
                        {.frames = png_frames, .open = open_png_frame, .metadata_file = png_metadata_file});
}

}  // namespace imgpipe
