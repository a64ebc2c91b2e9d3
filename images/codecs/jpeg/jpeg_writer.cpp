// Writes baseline JPEG with libjpeg-turbo, row by row. Functions that libjpeg jumps back into hold no object
// with a destructor (jpeg_errors.h).
#include <algorithm>
#include <array>
#include <iterator>
#include <new>
#include <string_view>

#include <jpeglib.h>

#include "images/codecs/codec_parts.h"
#include "images/codecs/jpeg/encoder_check.h"
#include "images/codecs/jpeg/jpeg_codec.h"
#include "images/codecs/jpeg/library_encoder.h"
#include "images/codecs/jpeg/whole_writer.h"
#include "images/codecs/mark.h"
#include "images/codecs/metadata/metadata.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

// Receives the encoded bytes in parts of equal size; the last one is cut to its length at the end.
struct Destination {
  jpeg_destination_mgr base;  // first: libjpeg hands back a pointer to it
  EncodedFile* file;
  std::size_t part_bytes;
};

constexpr std::array kEnd{std::byte{0xFF}, std::byte{0xD9}};  // EOI
constexpr std::int64_t kPartBytes = std::int64_t{1} << 20;
// The library's tables and other allocations that do not depend on the image's size; measured: 60 KiB.
constexpr std::int64_t kWriterTableBytes = std::int64_t{128} << 10;

// Returns the most bits that a block's AC coefficients take. By Parseval, their squares add up to at most
// those of the samples, 64 * 128^2. The total is highest when all are equal, 128 each. Divided by its step
// and rounded, a coefficient of 2^(s-1) or more takes s bits and a code: the longer one of T.81, tables K.5
// and K.6, without zeros before it. Bits between two sizes are interpolated.
double max_ac_bits(const JQUANT_TBL& steps) {
  constexpr std::array<double, 9> kBits{0, 3, 5, 7, 9, 10, 13, 15, 18};  // by s
  double bits = 0;
  for (std::size_t i = 1; i < DCTSIZE2; ++i) {
    const double amplitude = 128.0 / steps.quantval[i];
    const double share = amplitude * amplitude;
    const auto energy = [](std::size_t s) {
      const double least = static_cast<double>(1U << s) / 2 - 0.5;
      return least * least;
    };
    std::size_t s = 1;  // fewer save nothing: zeros between them make the codes longer
    while (s + 1 < kBits.size() && energy(s + 1) <= share) ++s;
    bits += kBits[s];
    if (s + 1 < kBits.size() && share > energy(s))
      bits += (kBits[s + 1] - kBits[s]) * (share - energy(s)) / (energy(s + 1) - energy(s));
  }
  return bits;
}

// Runs inside libjpeg, which exceptions must not cross.
boolean add_part(j_compress_ptr encoder) {
  auto* parts = reinterpret_cast<Destination*>(encoder->dest);
  bool added = false;
  try {
    parts->file->parts.emplace_back(parts->part_bytes);
    added = true;
  } catch (const std::bad_alloc&) {
    added = false;
  }
  if (!added) {
    auto* info = reinterpret_cast<j_common_ptr>(encoder);
    errors_of(info).no_memory = true;
    jump_out(info);
  }
  std::vector<std::byte>& part = parts->file->parts.back();
  parts->base.next_output_byte = reinterpret_cast<JOCTET*>(part.data());
  parts->base.free_in_buffer = part.size();
  return TRUE;
}

void start_parts(j_compress_ptr encoder) {
  (void)add_part(encoder);
}

void end_parts(j_compress_ptr encoder) {
  auto* parts = reinterpret_cast<Destination*>(encoder->dest);
  std::vector<std::byte>& part = parts->file->parts.back();
  part.resize(part.size() - parts->base.free_in_buffer);
}

class JpegWriter final : public WholeJpegWriter {
 public:
  JpegWriter(Shape shape, const EncodeOptions& options)
      : quality_(options.quality), mark_(mark_text(options.mark)), metadata_(options.metadata) {
    encoder_.err = error_manager(errors_);
    parts_.base.init_destination = start_parts;
    parts_.base.empty_output_buffer = add_part;
    parts_.base.term_destination = end_parts;
    parts_.file = &file_;
    if (!try_start(shape)) {
      jpeg_destroy_compress(&encoder_);
      fail();
    }
    parts_.part_bytes = static_cast<std::size_t>(std::min(kPartBytes, max_bytes(shape.height)));
  }

  ~JpegWriter() override { jpeg_destroy_compress(&encoder_); }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  void write_rows(ConstHostView rows) override {
    if (has_encoded_scan_)
      throw Error(ErrorKind::usage, "write_rows: the encoded scan of this JPEG is already written");
    make_segments();
    if (!try_write(as_8_bit(rows))) fail();
  }

  EncodedFile write_header() override {
    make_segments();
    if (!try_write_header()) fail();
    end_parts(&encoder_);
    has_encoded_scan_ = true;
    return std::move(file_);
  }

  [[nodiscard]] DeviceForm device_form() const noexcept override {
    const bool halved = subsamples_chroma(encoder_.input_components, quality_);
    if (!library_encodes_identically(encoder_.input_components, halved)) return {};
    return {DeviceForm::Kind::jpeg_scan, std::clamp(quality_, 1, 100), halved};
  }

  void give_scan(std::span<const std::byte> bytes) override {
    if (started_) throw Error(ErrorKind::usage, "give_scan: rows of this JPEG are already written");
    file_ = write_header();
    try {
      std::vector<std::byte>& last = file_.parts.back();
      std::vector<std::byte> part;
      part.reserve(last.size() + bytes.size() + kEnd.size());
      part.insert(part.end(), last.begin(), last.end());
      part.insert(part.end(), bytes.begin(), bytes.end());
      part.insert(part.end(), kEnd.begin(), kEnd.end());
      last = std::move(part);
    } catch (const std::bad_alloc&) {
      errors_.no_memory = true;
      fail();
    }
  }

  [[nodiscard]] std::int64_t working_bytes() const override {
    return max_bytes(encoder_.image_height) + encoder_bytes();
  }
  [[nodiscard]] std::int64_t working_bytes_when_taken(std::int64_t rows) const override {
    // One part may be full and not taken yet.
    return max_bytes(std::min<std::int64_t>(rows, encoder_.image_height)) + kPartBytes + encoder_bytes();
  }

  [[nodiscard]] std::int64_t max_bytes(std::int64_t rows) const override {
    constexpr double kDcBits = 9 + 11 + 2;  // T.81, tables K.3 and K.4
    constexpr double kStuffing = 1;  // worst case, all bytes 0xFF: a zero after each (B.1.1.5); noise: 1/256
    constexpr double kHeaderBytes = 1024;
    std::int64_t max_h = 1, max_v = 1;
    for (const jpeg_component_info& component : components()) {
      max_h = std::max<std::int64_t>(max_h, component.h_samp_factor);
      max_v = std::max<std::int64_t>(max_v, component.v_samp_factor);
    }
    const std::int64_t across = (encoder_.image_width + 8 * max_h - 1) / (8 * max_h);
    const std::int64_t down = (rows + 8 * max_v - 1) / (8 * max_v) + (rows < encoder_.image_height ? 1 : 0);
    double bits = 0;
    for (const jpeg_component_info& component : components()) {
      const JQUANT_TBL& steps = *encoder_.quant_tbl_ptrs[component.quant_tbl_no];
      bits += component.h_samp_factor * component.v_samp_factor * (max_ac_bits(steps) + kDcBits);
    }
    return static_cast<std::int64_t>(bits / 8 * (1 + kStuffing) * static_cast<double>(across * down) +
                                     kHeaderBytes) +
           metadata_bytes();
  }

  // The part being filled, and the metadata as given and as segments during writing.
  [[nodiscard]] std::int64_t encoder_bytes() const override {
    return kPartBytes + library_bytes_of_rows() + 2 * metadata_bytes();
  }
  // Rows of blocks with their context (libjpeg-turbo's jcprepct.c, jcmainct.c).
  [[nodiscard]] std::int64_t library_bytes_of_rows() const override {
    constexpr std::int64_t kMaxRows = 16 + 3 * 2;
    const std::int64_t columns = std::int64_t{encoder_.image_width} + 16 + 64;
    return kMaxRows * columns * encoder_.num_components + kWriterTableBytes;
  }

  EncodedFile take_finished() override {
    EncodedFile taken;
    std::vector<std::vector<std::byte>>& parts = file_.parts;
    if (parts.size() < 2) return taken;  // the last one is being filled
    taken.parts.assign(std::move_iterator(parts.begin()), std::move_iterator(parts.end() - 1));
    parts.erase(parts.begin(), parts.end() - 1);
    return taken;
  }

  EncodedFile finish() override {
    if (!has_encoded_scan_ && !try_finish()) fail();
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail() const {
    if (errors_.no_memory) throw Error(ErrorKind::memory, "not enough memory");
    throw Error(ErrorKind::memory, "the JPEG encoder failed: " + std::string(errors_.message));
  }

  [[nodiscard]] std::span<const jpeg_component_info> components() const {
    return {encoder_.comp_info, static_cast<std::size_t>(encoder_.num_components)};
  }

  // Includes the headers of the metadata segments.
  [[nodiscard]] std::int64_t metadata_bytes() const {
    constexpr std::int64_t kHeads = 4096;
    return metadata_ == nullptr ? 0 : metadata_->bytes() + metadata_->bytes() / kHeads + kHeads;
  }

  bool try_start(Shape shape) {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_create_compress(&encoder_);
    encoder_.dest = &parts_.base;
    set_parameters(encoder_, shape, quality_);
    return true;
  }

  // Makes the segments that follow the mark. Must not run in a function that libjpeg may jump back into.
  void make_segments() {
    if (started_ || metadata_ == nullptr) return;
    segments_ = jpeg_metadata_segments(*metadata_);
    if (const std::optional<JfifDensity> density = jfif_density(*metadata_)) {
      encoder_.density_unit = static_cast<UINT8>(density->unit);
      encoder_.X_density = density->x;
      encoder_.Y_density = density->y;
    }
  }

  // Writes segments_ through jpeg_write_marker(): marker, length, payload.
  void write_segments() {
    for (std::size_t at = 0; at + 4 <= segments_.size();) {
      const std::size_t length = big_endian(segments_, at + 2, 2);
      jpeg_write_marker(&encoder_, std::to_integer<int>(segments_[at + 1]),
                        reinterpret_cast<const JOCTET*>(segments_.data() + at + 4),
                        static_cast<unsigned>(length - 2));
      at += 2 + length;
    }
  }

  void start_file() {
    if (!started_) {
      jpeg_start_compress(&encoder_, TRUE);
      if (!mark_.empty()) {
        jpeg_write_marker(&encoder_, JPEG_COM, reinterpret_cast<const JOCTET*>(mark_.data()),
                          static_cast<unsigned>(mark_.size()));
      }
      write_segments();
    }
    started_ = true;
  }

  // Writes everything before the scan; libjpeg completes the headers in the first call for rows, even for
  // none.
  bool try_write_header() {
    if (setjmp(errors_.jump) != 0) return false;
    start_file();
    jpeg_write_scanlines(&encoder_, nullptr, 0);
    return true;
  }

  bool try_write(ConstHostPlane rows) {
    if (setjmp(errors_.jump) != 0) return false;
    start_file();
    write_scanlines(encoder_, rows);
    return true;
  }

  bool try_finish() {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_finish_compress(&encoder_);
    return true;
  }

  int quality_;
  jpeg_compress_struct encoder_{};
  JpegErrors errors_{};
  Destination parts_{};
  EncodedFile file_;
  std::string mark_;
  std::shared_ptr<const Metadata> metadata_;
  std::vector<std::byte> segments_;
  bool started_ = false;
  bool has_encoded_scan_ = false;  // a scan, in place of rows
};

}  // namespace

std::unique_ptr<WholeJpegWriter> make_whole_jpeg_writer(Shape shape, const EncodeOptions& options) {
  if (shape.width > JPEG_MAX_DIMENSION || shape.height > JPEG_MAX_DIMENSION) {
    throw Error(ErrorKind::usage,
                "jpeg is limited to " + std::to_string(JPEG_MAX_DIMENSION) + " pixels per side");
  }
  return std::make_unique<JpegWriter>(shape, options);
}

}  // namespace imgpipe
