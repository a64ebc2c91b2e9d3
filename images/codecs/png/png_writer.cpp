// Writes PNG (W3C PNG specification, third edition) in strips. Each is filtered and compressed independently,
// in any order and on any thread, into its own IDAT chunk. A strip's height follows from the image's shape
// alone, so the bytes are the same for every number of threads.
//
//   signature  IHDR  IDAT: zlib header + strip 0 | IDAT: strip 1 | ... | IDAT: Adler-32 of all  IEND
#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "images/codecs/big_endian_rows.h"
#include "images/codecs/codec_parts.h"
#include "images/codecs/metadata/metadata.h"
#include "images/codecs/png/deflate.h"
#include "images/codecs/png/png_codec.h"
#include "images/codecs/png/png_filter.h"
#include "images/codecs/png/png_mark.h"
#include "images/codecs/strip_writer.h"
#include "images/error.h"
#include "images/plane.h"

namespace imgpipe {
namespace {

// Filtered bytes of a strip: many compared with deflate's window of 32 KiB, so that starting without history
// costs less than 1 %; few enough for the caches of one core and to provide strips for many threads. An
// 8773x5352 grey image has 91 strips.
constexpr std::int64_t kStripBytes = std::int64_t{1} << 19;
constexpr std::int64_t kMaxChunkBytes = std::int64_t{1} << 30;  // the specification allows 2^31 - 1
// A device counts a strip's bytes in 30 bits (kernels/png/encoding.h).
constexpr std::int64_t kMaxDeviceBytes = std::int64_t{1} << 30;

void append_number(std::vector<std::byte>& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<std::byte>(value >> shift));
}

void append(std::vector<std::byte>& out, Bytes bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// Appends a chunk: length, type, data, CRC over type and data. The data comes in two parts.
void append_chunk(std::vector<std::byte>& out, const char (&type)[5], Bytes head, Bytes body = {}) {
  append_number(out, static_cast<std::uint32_t>(head.size() + body.size()));
  const std::size_t start = out.size();
  append(out, std::as_bytes(std::span(type, 4)));
  append(out, head);
  append(out, body);
  append_number(out, crc32_of(Bytes(out).subspan(start)));
}

class PngWriter final : public StripWriter {
 public:
  PngWriter(Shape shape, const EncodeOptions& options)
      : StripWriter(shape, std::clamp<std::int64_t>(kStripBytes / (shape.row_bytes() + 1), 1, shape.height)),
        level_(options.png_level),
        codec_(options.codec),
        mark_(options.mark),
        metadata_(options.metadata) {
    strips_.resize(static_cast<std::size_t>(strip_count()));
  }

  [[nodiscard]] DeviceForm device_form() const noexcept override {
    const bool strips = level_ == 1 && codec_ == CodecChoice::automatic && !is_wide(shape().sample) &&
                        filtered_bytes() < kMaxDeviceBytes;
    return {.kind = strips ? DeviceForm::Kind::png_strips : DeviceForm::Kind::none};
  }

  // Computes the chunk's CRC-32 on the host, as for all strips. It covers the chunk's header, which the
  // device does not know, and the compressed bytes; computing it takes less time than their download.
  void give_strip(std::int64_t first, const EncodedStrip& strip) override {
    if (!is_strip(first) || strip.bytes.empty() || device_form().kind != DeviceForm::Kind::png_strips)
      throw Error(ErrorKind::usage, "give_strip: not a strip of the image");
    const std::int64_t bytes = rows_from(first) * (shape().row_bytes() + 1);
    if (!strip.filtered) return keep(first, strip.bytes, bytes, strip.adler);
    if (static_cast<std::int64_t>(strip.bytes.size()) != bytes)
      throw Error(ErrorKind::usage, "give_strip: not the filtered rows of the strip");
    Worker worker = take_worker();
    keep(first, worker.deflater.compress(strip.bytes, is_last(first)), bytes, strip.adler);
    workers_.give_back(std::move(worker));
  }

  [[nodiscard]] std::int64_t working_bytes() const override {
    const auto strips = static_cast<std::int64_t>(strips_.size());
    return strips * strip_file_bytes() + worker_bytes() + gathered_bytes() + list_bytes();
  }
  [[nodiscard]] std::int64_t working_bytes_when_taken(std::int64_t) const override {
    return strip_bytes() + gathered_bytes() + list_bytes();
  }
  [[nodiscard]] std::int64_t strip_bytes() const override { return strip_file_bytes() + worker_bytes(); }

  EncodedFile take_finished() override {
    const std::lock_guard lock(mutex_);
    EncodedFile taken;
    for (; next_to_take_ < strips_.size() && !strips_[next_to_take_].chunks.empty(); ++next_to_take_) {
      if (next_to_take_ == 0) taken.parts.push_back(head());
      Strip& strip = strips_[next_to_take_];
      adler_ = adler32_joined(adler_, strip.adler, strip.filtered_bytes);
      taken.parts.push_back(std::move(strip.chunks));
    }
    return taken;
  }

  EncodedFile finish() override {
    drop_gathered();
    workers_.clear();
    EncodedFile file = take_finished();
    if (next_to_take_ < strips_.size())
      throw Error(ErrorKind::usage, "finish: rows of the image are missing");
    std::vector<std::byte> sum;
    append_number(sum, adler_);
    std::vector<std::byte> tail;
    append_chunk(tail, "IDAT", sum);
    append_chunk(tail, "IEND", {});
    file.parts.push_back(std::move(tail));
    return file;
  }

 protected:
  void encode_strip(std::int64_t first, ConstHostView rows) override {
    Worker worker = take_worker();
    filter(rows, worker);
    const Bytes data = worker.deflater.compress(worker.filtered, is_last(first));
    keep(first, data, static_cast<std::int64_t>(worker.filtered.size()), adler32_of(worker.filtered));
    workers_.give_back(std::move(worker));
  }

 private:
  struct Strip {
    std::vector<std::byte> chunks;
    std::uint32_t adler = 1;
    std::int64_t filtered_bytes = 0;
  };

  // The state that a thread needs to compress a strip. If all workers are in use, another one is made.
  struct Worker {
    StripDeflater deflater;
    std::vector<std::byte> filtered;
    std::array<std::vector<std::byte>, 2> stored;  // of 16 bits: a row and the one above, big-endian
  };

  Worker take_worker() {
    return workers_.take([&] { return Worker{StripDeflater(level_), {}, {}}; });
  }

  [[nodiscard]] bool is_last(std::int64_t first) const { return first + strip_rows() >= shape().height; }

  // Stores a strip's compressed bytes as chunks. `adler`: of its filtered rows, which had `filtered_bytes`.
  void keep(std::int64_t first, Bytes data, std::int64_t filtered_bytes, std::uint32_t adler) {
    Strip strip;
    strip.filtered_bytes = filtered_bytes;
    strip.adler = adler;
    std::vector<std::byte> head;
    if (first == 0) head = zlib_header(level_);
    strip.chunks.reserve(data.size() + head.size() + 12);
    do {
      const Bytes chunk = data.first(std::min<std::size_t>(data.size(), kMaxChunkBytes));
      append_chunk(strip.chunks, "IDAT", head, chunk);
      head.clear();
      data = data.subspan(chunk.size());
    } while (!data.empty());
    const std::lock_guard lock(mutex_);
    strips_[static_cast<std::size_t>(first / strip_rows())] = std::move(strip);
  }

  // Returns the bytes of a full strip, with a type byte for each row.
  [[nodiscard]] std::int64_t filtered_bytes() const noexcept {
    return strip_rows() * (shape().row_bytes() + 1);
  }
  // A strip's size in the file, with its chunks' overhead.
  [[nodiscard]] std::int64_t strip_file_bytes() const {
    return max_compressed_bytes(filtered_bytes()) + 64 + filtered_bytes() / kMaxChunkBytes * 12;
  }
  [[nodiscard]] std::int64_t worker_bytes() const {
    const std::int64_t stored = is_wide(shape().sample) ? 2 * shape().row_bytes() : 0;
    return filtered_bytes() + stored + StripDeflater::working_bytes(filtered_bytes(), level_);
  }
  // Returns the memory for metadata: as given, as chunks, and in the file's head, whose capacity may have
  // doubled.
  [[nodiscard]] std::int64_t metadata_bytes() const {
    constexpr std::int64_t kCopies = 8, kCompressor = 1 << 20;
    return metadata_ == nullptr ? 0 : kCopies * metadata_->bytes() + kCompressor;
  }
  [[nodiscard]] std::int64_t list_bytes() const {
    return 4096 + metadata_bytes() +
           static_cast<std::int64_t>(strips_.size() * (sizeof(Strip) + sizeof(std::vector<std::byte>)));
  }

  // Level 0 stores rows without a filter, which saves its time.
  void filter(const ConstHostView& rows, Worker& worker) const {
    const auto row_bytes = static_cast<std::size_t>(rows.row_bytes());
    const auto pixel_bytes = static_cast<std::size_t>(rows.channels * bytes_per_sample(rows.sample));
    worker.filtered.resize((row_bytes + 1) * static_cast<std::size_t>(rows.height));
    auto* out = reinterpret_cast<std::uint8_t*>(worker.filtered.data());
    const std::uint8_t* above = nullptr;  // the row above a strip belongs to another strip
    for (std::int64_t y = 0; y < rows.height; ++y, out += row_bytes + 1) {
      const auto* row = reinterpret_cast<const std::uint8_t*>(stored_row(rows, y, worker));
      if (level_ == 0) {
        *out = 0;
        std::copy_n(row, row_bytes, out + 1);
      } else {
        filter_png_row(row, above, row_bytes, pixel_bytes, out);
      }
      above = row;
    }
  }

  // Returns a row in PNG's byte order; the previous row stays valid.
  static const std::byte* stored_row(const ConstHostView& rows, std::int64_t y, Worker& worker) {
    if (!is_wide(rows.sample)) return rows.row(y);
    std::vector<std::byte>& stored = worker.stored[static_cast<std::size_t>(y % 2)];
    stored.resize(static_cast<std::size_t>(rows.row_bytes()));
    copy_big_endian(rows.row(y), stored.size() / 2, stored.data());
    return stored.data();
  }

  // Everything before the first strip.
  [[nodiscard]] std::vector<std::byte> head() const {
    std::vector<std::byte> head;
    for (const unsigned value : {0x89U, 0x50U, 0x4EU, 0x47U, 0x0DU, 0x0AU, 0x1AU, 0x0AU})
      head.push_back(static_cast<std::byte>(value));
    append_chunk(head, "IHDR", header());
    if (mark_ != Mark::none) append(head, png_mark(mark_));
    if (metadata_) append(head, png_metadata_chunks(*metadata_));
    return head;
  }

  [[nodiscard]] std::vector<std::byte> header() const {
    constexpr unsigned kColorTypes[] = {0, 0, 4, 2, 6};  // by channels
    std::vector<std::byte> data;
    append_number(data, static_cast<std::uint32_t>(shape().width));
    append_number(data, static_cast<std::uint32_t>(shape().height));
    // Bits per sample, colour type, deflate, the five filters, not interlaced.
    const auto bits = static_cast<unsigned>(8 * bytes_per_sample(shape().sample));
    for (const unsigned value : {bits, kColorTypes[shape().channels], 0U, 0U, 0U})
      data.push_back(static_cast<std::byte>(value));
    return data;
  }

  int level_;
  CodecChoice codec_;
  Mark mark_;
  std::shared_ptr<const Metadata> metadata_;
  std::mutex mutex_;           // guards the next three
  std::vector<Strip> strips_;  // chunks are empty until finished, and once taken
  std::size_t next_to_take_ = 0;
  std::uint32_t adler_ = 1;  // of all strips taken
  Workers<Worker> workers_;
};

}  // namespace

std::unique_ptr<Writer> make_png_writer(Shape shape, const EncodeOptions& options) {
  if (shape.width > kMaxSide || shape.height > kMaxSide)
    throw Error(ErrorKind::usage, "png is limited to 2147483647 pixels per side");
  return std::make_unique<PngWriter>(shape, options);
}

}  // namespace imgpipe
