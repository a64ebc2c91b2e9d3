// Writes baseline JPEG in strips of whole MCU rows, in any order and on any thread: libjpeg-turbo encodes
// each strip as an image of its own, and their scans are joined. The bytes are those of one encoder for the
// image.
#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "images/codecs/codec_parts.h"
#include "images/codecs/jpeg/encoder_check.h"
#include "images/codecs/jpeg/jpeg_codec.h"
#include "images/codecs/jpeg/library_encoder.h"
#include "images/codecs/jpeg/scan_joiner.h"
#include "images/codecs/jpeg/whole_writer.h"
#include "images/codecs/strip_writer.h"
#include "images/error.h"

namespace imgpipe {
namespace {

// Pixels of a strip: few enough for the caches of one core and to provide strips for many threads.
constexpr std::int64_t kStripBytes = std::int64_t{1} << 19;
constexpr std::int64_t kMcuRows = 16;                               // at most
constexpr std::array kEndMarker{std::byte{0xFF}, std::byte{0xD9}};  // EOI

// Encodes one strip after the other as images of their own.
class StripEncoder {
 public:
  // `max_bytes`: a strip's file has no more.
  StripEncoder(Shape image, int quality, std::int64_t max_bytes) : image_(image), quality_(quality) {
    encoder_.err = error_manager(errors_);
    buffer_.base.init_destination = start;
    buffer_.base.empty_output_buffer = grow;
    buffer_.base.term_destination = end;
    if (!try_create(static_cast<std::size_t>(max_bytes))) fail();
  }
  ~StripEncoder() { jpeg_destroy_compress(&encoder_); }
  StripEncoder(const StripEncoder&) = delete;
  StripEncoder& operator=(const StripEncoder&) = delete;

  // Returns the entropy-coded data, valid until the next call. Throws Error(memory).
  Bytes encode(ConstHostPlane rows) {
    std::size_t header = 0;
    if (!try_encode(rows, header)) fail();
    return {buffer_.bytes.get() + header, buffer_.used - kEndMarker.size() - header};
  }

 private:
  struct Buffer {
    jpeg_destination_mgr base;  // first: libjpeg hands back a pointer to it
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size, used;

    void offer(std::size_t from) {
      base.next_output_byte = reinterpret_cast<JOCTET*>(bytes.get() + from);
      base.free_in_buffer = size - from;
    }
  };
  static Buffer& buffer_of(j_compress_ptr encoder) { return *reinterpret_cast<Buffer*>(encoder->dest); }

  // Runs inside libjpeg, which exceptions must not cross.
  static void resize(j_compress_ptr encoder, std::size_t size) {
    Buffer& buffer = buffer_of(encoder);
    std::byte* const bytes = new (std::nothrow) std::byte[size];
    if (bytes == nullptr) {
      auto* info = reinterpret_cast<j_common_ptr>(encoder);
      errors_of(info).no_memory = true;
      jump_out(info);
    }
    std::copy_n(buffer.bytes.get(), buffer.size, bytes);
    buffer.bytes.reset(bytes);
    buffer.size = size;
  }
  static void start(j_compress_ptr encoder) { buffer_of(encoder).offer(0); }
  static boolean grow(j_compress_ptr encoder) {
    const std::size_t used = buffer_of(encoder).size;
    resize(encoder, 2 * used);
    buffer_of(encoder).offer(used);
    return TRUE;
  }
  static void end(j_compress_ptr encoder) {
    Buffer& buffer = buffer_of(encoder);
    buffer.used = buffer.size - buffer.base.free_in_buffer;
  }

  bool try_create(std::size_t max_bytes) {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_create_compress(&encoder_);
    encoder_.dest = &buffer_.base;
    set_parameters(encoder_, image_, quality_);
    resize(&encoder_, max_bytes);
    return true;
  }
  // `header`: the bytes before the scan.
  bool try_encode(ConstHostPlane rows, std::size_t& header) {
    if (setjmp(errors_.jump) != 0) return false;
    encoder_.image_height = static_cast<JDIMENSION>(rows.height);
    jpeg_start_compress(&encoder_, TRUE);
    jpeg_write_scanlines(&encoder_, nullptr, 0);  // completes the header
    header = buffer_.size - buffer_.base.free_in_buffer;
    write_scanlines(encoder_, rows);
    jpeg_finish_compress(&encoder_);
    return true;
  }
  [[noreturn]] void fail() {
    jpeg_abort_compress(&encoder_);
    if (errors_.no_memory) throw Error(ErrorKind::memory, "not enough memory");
    throw Error(ErrorKind::memory, "the JPEG encoder failed: " + std::string(errors_.message));
  }

  Shape image_;
  int quality_;
  jpeg_compress_struct encoder_{};
  JpegErrors errors_{};
  Buffer buffer_{};
};

class JpegStripWriter final : public StripWriter {
 public:
  JpegStripWriter(std::unique_ptr<WholeJpegWriter> whole, Shape shape, std::int64_t strip_rows, int quality)
      : StripWriter(shape, strip_rows),
        whole_(std::move(whole)),
        quality_(quality),
        subsampled_(subsamples_chroma(shape.channels, quality)),
        joiner_(forward_scan(shape.width, shape.height, shape.channels, subsampled_).blocks_in_mcu) {}

  [[nodiscard]] DeviceForm device_form() const noexcept override { return whole_->device_form(); }
  void give_scan(Bytes bytes) override {
    whole_->give_scan(bytes);
    has_encoded_scan_ = true;
  }

  [[nodiscard]] std::int64_t working_bytes() const override {
    return whole_->working_bytes() + strip_bytes() + joiner_bytes() + gathered_bytes();
  }
  [[nodiscard]] std::int64_t working_bytes_when_taken(std::int64_t) const override {
    return whole_->encoder_bytes() + strip_bytes() + joiner_bytes() + gathered_bytes();
  }
  // The encoder with its buffer, and the strip's scan, alone or joined.
  [[nodiscard]] std::int64_t strip_bytes() const override {
    return 2 * max_strip_bytes() + whole_->library_bytes_of_rows();
  }

  EncodedFile take_finished() override {
    const std::lock_guard lock(mutex_);
    return std::exchange(finished_, {});
  }

  EncodedFile finish() override {
    drop_gathered();
    encoders_.clear();
    if (has_encoded_scan_) return whole_->finish();
    if (joined_ < strip_count()) throw Error(ErrorKind::usage, "finish: rows of the image are missing");
    EncodedFile file = take_finished();
    std::vector<std::byte> tail = joiner_.finish();
    tail.insert(tail.end(), kEndMarker.begin(), kEndMarker.end());
    file.parts.push_back(std::move(tail));
    return file;
  }

 protected:
  void encode_strip(std::int64_t first, ConstHostView view) override {
    if (has_encoded_scan_)
      throw Error(ErrorKind::usage, "write_rows: the encoded scan of this JPEG is already written");
    const ConstHostPlane rows = as_8_bit(view);
    const McuReference reference(rows, quality_, subsampled_);
    const StripEnds ends{reference.mcu(0), reference.mcu(reference.scan().mcus - 1)};
    std::unique_ptr<StripEncoder> encoder =
        encoders_.take([&] { return std::make_unique<StripEncoder>(shape(), quality_, max_strip_bytes()); });
    keep(first / strip_rows(), ends, encoder->encode(rows));
    encoders_.give_back(std::move(encoder));
  }

 private:
  [[nodiscard]] std::int64_t max_strip_bytes() const { return whole_->max_bytes(strip_rows()); }
  [[nodiscard]] std::int64_t joiner_bytes() const { return ScanJoiner::working_bytes(max_strip_bytes()); }

  struct WaitingStrip {
    StripEnds ends;
    std::vector<std::byte> scan;
  };

  // Joins a strip, and those that wait for it, once all before it are joined.
  void keep(std::int64_t number, const StripEnds& ends, Bytes scan) {
    const std::lock_guard lock(mutex_);
    if (number > joined_) {
      waiting_.emplace(number, WaitingStrip{ends, {scan.begin(), scan.end()}});
      return;
    }
    join(ends, scan);
    for (auto next = waiting_.find(joined_); next != waiting_.end(); next = waiting_.find(joined_)) {
      join(next->second.ends, next->second.scan);
      waiting_.erase(next);
    }
  }
  void join(const StripEnds& ends, Bytes scan) {
    if (joined_ == 0) finished_ = whole_->write_header();
    finished_.parts.push_back(joiner_.add(ends, scan));
    ++joined_;
  }

  std::unique_ptr<WholeJpegWriter> whole_;
  int quality_;
  bool subsampled_;
  Workers<std::unique_ptr<StripEncoder>> encoders_;
  std::mutex mutex_;
  ScanJoiner joiner_;
  std::map<std::int64_t, WaitingStrip> waiting_;  // by number
  std::int64_t joined_ = 0;
  EncodedFile finished_;
  bool has_encoded_scan_ = false;  // a device's, instead of strips
};

}  // namespace

std::unique_ptr<Writer> make_jpeg_writer(Shape shape, const EncodeOptions& options) {
  std::unique_ptr<WholeJpegWriter> whole = make_whole_jpeg_writer(shape, options);
  const std::int64_t rows = std::max(kStripBytes / shape.row_bytes() / kMcuRows, std::int64_t{1}) * kMcuRows;
  const bool in_strips =
      options.codec == CodecChoice::automatic && rows < shape.height &&
      library_encodes_identically(shape.channels, subsamples_chroma(shape.channels, options.quality));
  if (!in_strips) return whole;
  const int quality = std::clamp(options.quality, 1, 100);
  return std::make_unique<JpegStripWriter>(std::move(whole), shape, rows, quality);
}

}  // namespace imgpipe
