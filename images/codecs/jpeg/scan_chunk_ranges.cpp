// Cuts a scan into chunks, and removes their stuffing.
#include <algorithm>
#include <cstring>

#include "images/codecs/jpeg/jpeg_segments.h"
#include "images/codecs/jpeg/scan_chunks.h"

namespace imgpipe {
namespace {

using Data = std::span<const std::byte>;

unsigned byte_at(Data data, std::size_t at) {
  return at < data.size() ? std::to_integer<unsigned>(data[at]) : 0;
}

// Returns the offset of the next 0xFF in [at, end), or end.
std::size_t find_ff(Data data, std::size_t at, std::size_t end) {
  const void* found = at < end ? std::memchr(data.data() + at, 0xFF, end - at) : nullptr;
  return found == nullptr ? end
                          : static_cast<std::size_t>(static_cast<const std::byte*>(found) - data.data());
}

bool is_restart(unsigned code) {
  return code >= kFirstRestart && code < kFirstRestart + kRestartNumbers;
}

// Appends unstuffed bytes, from `at` up to `end` or a marker, but at most `most`. Returns where it stopped:
// at or just after `end`, at a marker's 0xFF, or after `most` bytes.
std::size_t append_unstuffed(Data data, std::size_t at, std::size_t end, std::size_t most,
                             RawBuffer<std::uint8_t>& out) {
  most += out.size();
  while (at < end && out.size() < most) {
    const std::size_t ff = find_ff(data, at, std::min(end, at + (most - out.size())));
    std::memcpy(out.data() + out.size(), data.data() + at, ff - at);
    out.set_size(out.size() + (ff - at));
    at = ff;
    if (at == end || out.size() == most || byte_at(data, at) != 0xFF) continue;
    if (at + 1 >= data.size() || byte_at(data, at + 1) != 0) return at;
    out[out.size()] = 0xFF;
    out.set_size(out.size() + 1);
    at += 2;
  }
  return at;
}

std::int64_t bits_of(const RawBuffer<std::uint8_t>& bytes) {
  return static_cast<std::int64_t>(bytes.size()) * 8;
}

}  // namespace

// Returns where the chunk after the one at `at` begins: scan_chunk_bytes_ further, or after the first restart
// marker in the scan_chunk_bytes_ that follow. Never separates a 0xFF from the byte after it.
std::size_t ScanChunks::next_chunk_start(std::size_t at, bool& restart) const {
  const Data data = scan_.data;
  restart = false;
  if (data.size() - at <= scan_chunk_bytes_) return data.size();
  std::size_t cut = at + scan_chunk_bytes_;
  if (byte_at(data, cut - 1) == 0xFF) ++cut;  // two in a row end a chunk: the library handles them
  if (scan_.restart_interval == 0) return cut;
  const std::size_t end = std::min(data.size(), cut + scan_chunk_bytes_);
  for (std::size_t ff = find_ff(data, cut, end); ff < end; ff = find_ff(data, ff + 1, end)) {
    if (!is_restart(byte_at(data, ff + 1))) continue;
    restart = true;
    return std::min(ff + 2, data.size());
  }
  return cut;
}

std::optional<ScanChunkRange> ScanChunks::next() {
  if (no_more_ || next_begin_ >= scan_.data.size()) return std::nullopt;
  ScanChunkRange range{.begin = next_begin_,
                       .end = 0,
                       .start = next_is_restart_ ? ScanChunkStart::restart : ScanChunkStart::guess};
  range.end = next_chunk_start(range.begin, next_is_restart_);
  next_begin_ = range.end;
  return range;
}

void ScanChunks::unstuff(ScanChunk& chunk) const {
  const Data data = scan_.data;
  RawBuffer<std::uint8_t>& bytes = chunk.bytes;
  const std::size_t space = chunk.range.end - chunk.range.begin + kMaxBlockBytes + kEntropyMargin;
  bytes.reserve(space, space);
  std::size_t at = chunk.range.begin;
  for (;;) {
    at = append_unstuffed(data, at, chunk.range.end, bytes.capacity(), bytes);
    if (at >= chunk.range.end) break;
    const unsigned code = byte_at(data, at + 1);
    const bool restart = scan_.restart_interval > 0 && is_restart(code);
    chunk.marker = static_cast<int>(restart ? code - kFirstRestart : code);
    chunk.ends_in = restart ? ScanChunkEnd::restart_marker : ScanChunkEnd::end;
    at = std::min(at + 2, data.size());
    chunk.after_marker = at;
    if (!restart || at >= chunk.range.end) break;
    chunk.restarts.push_back({bits_of(bytes), chunk.marker});
    chunk.ends_in = ScanChunkEnd::next_chunk_follows;
  }
  chunk.end_bit = bits_of(bytes);
  if (chunk.ends_in == ScanChunkEnd::next_chunk_follows) {
    if (at >= data.size()) {
      chunk.ends_in = ScanChunkEnd::end;  // the data ends without a marker
      chunk.marker = 0;
      chunk.after_marker = data.size();
    } else {
      (void)append_unstuffed(data, at, data.size(), kMaxBlockBytes, bytes);
    }
  }
  chunk.known_end_bit = bits_of(bytes);
  std::memset(bytes.data() + bytes.size(), 0, kEntropyMargin);
}

}  // namespace imgpipe
