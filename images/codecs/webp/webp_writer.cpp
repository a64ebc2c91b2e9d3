// Writes WebP with libwebp. Lossless coding preserves every pixel, including colours under alpha 0, but omits
// an alpha of 255 everywhere. One thread per image: the bytes depend on pixels and options only.
//
// libwebp needs the whole image, and holds several times its size while encoding.
#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "images/codecs/codec_parts.h"
#include "images/codecs/metadata/metadata.h"
#include "images/codecs/sniff.h"
#include "images/codecs/webp/webp_codec.h"
#include "images/codecs/webp/webp_functions.h"
#include "images/error.h"

namespace imgpipe {
namespace {

constexpr std::size_t kRiffBytes = 12, kCanvasChunkBytes = 18;

// Receives the file from libwebp, and separates the RIFF header and VP8X.
class WebpFileBuilder {
 public:
  static int take(const std::uint8_t* data, std::size_t size, const WebPPicture* picture) {
    auto* chunks = static_cast<WebpFileBuilder*>(picture->custom_ptr);
    try {
      chunks->append(std::as_bytes(std::span(data, size)));
    } catch (const std::bad_alloc&) {
      return 0;
    }
    return 1;
  }

  // Returns the whole file, with mark and metadata inserted.
  [[nodiscard]] EncodedFile finish(Shape shape, const Mark& mark, const Metadata& metadata) {
    constexpr std::uint32_t kXmpFlag = 0x04, kExifFlag = 0x08, kProfileFlag = 0x20;
    std::vector<std::byte> front = webp_mark(mark), back;
    append_chunk(front, "ICCP", metadata.icc);
    append_chunk(back, "EXIF", metadata.exif);
    append_chunk(back, "XMP ", metadata.xmp);
    if (!front.empty() || !back.empty()) {
      if (!extended()) insert_bytes(head_, kRiffBytes, canvas(shape));
      insert_bytes(head_, kRiffBytes + kCanvasChunkBytes, front);
      const std::uint32_t flags = (metadata.icc.empty() ? 0 : kProfileFlag) |
                                  (metadata.exif.empty() ? 0 : kExifFlag) |
                                  (metadata.xmp.empty() ? 0 : kXmpFlag);
      head_[kRiffBytes + 8] |= static_cast<std::byte>(flags);
    }
    if (!back.empty()) file_.parts.push_back(std::move(back));
    std::size_t size = head_.size();
    for (const std::vector<std::byte>& part : file_.parts) size += part.size();
    std::vector<std::byte> number;
    append_riff_number(number, size - 8, 4);
    std::ranges::copy(number, head_.begin() + 4);
    file_.parts.insert(file_.parts.begin(), std::move(head_));
    return std::move(file_);
  }

 private:
  static void append_chunk(std::vector<std::byte>& out, std::string_view name, Bytes data) {
    if (data.empty()) return;
    append_text(out, name);
    append_riff_number(out, data.size(), 4);
    out.insert(out.end(), data.begin(), data.end());
    if (data.size() % 2 != 0) out.push_back(std::byte{0});
  }

  void append(Bytes bytes) {
    if (head_.size() < kHeadBytes) {
      const Bytes first = bytes.first(std::min(bytes.size(), kHeadBytes - head_.size()));
      head_.insert(head_.end(), first.begin(), first.end());
      bytes = bytes.subspan(first.size());
    }
    constexpr std::size_t kSmallBytes = 4096;
    if (bytes.empty()) return;
    const bool joins = bytes.size() < kSmallBytes && !file_.parts.empty() &&
                       file_.parts.back().capacity() - file_.parts.back().size() >= bytes.size();
    if (!joins) file_.parts.emplace_back().reserve(std::max(bytes.size(), kSmallBytes));
    file_.parts.back().insert(file_.parts.back().end(), bytes.begin(), bytes.end());
  }

  [[nodiscard]] bool extended() const { return matches_at(head_, kRiffBytes, "VP8X"); }

  // Makes the VP8X of a file without one (RFC 9649, section 2.7.1): only a lossless one can have alpha.
  [[nodiscard]] std::vector<std::byte> canvas(Shape shape) const {
    constexpr std::uint32_t kAlphaFlag = 0x10;
    const bool alpha =
        matches_at(head_, kRiffBytes, "VP8L") && (little_endian(head_, kRiffBytes + 9, 4) >> 28 & 1) != 0;
    std::vector<std::byte> chunk;
    append_text(chunk, "VP8X");
    append_riff_number(chunk, 10, 4);
    append_riff_number(chunk, alpha ? kAlphaFlag : 0, 4);
    append_riff_number(chunk, static_cast<std::size_t>(shape.width - 1), 3);
    append_riff_number(chunk, static_cast<std::size_t>(shape.height - 1), 3);
    return chunk;
  }

  static constexpr std::size_t kHeadBytes =
      kRiffBytes + kCanvasChunkBytes;  // examined, and possibly extended

  std::vector<std::byte> head_;
  EncodedFile file_;
};

class WebpWriter final : public Writer {
 public:
  WebpWriter(Shape shape, const EncodeOptions& options) : shape_(shape), options_(options) {
    if (late_webp::WebPPictureInitInternal(&picture_, WEBP_ENCODER_ABI_VERSION) == 0 || !configure())
      fail_usage("libwebp rejected the encoder settings");
  }
  ~WebpWriter() override {
    if (picture_.argb != nullptr) late_webp::WebPPictureFree(&picture_);
  }
  WebpWriter(const WebpWriter&) = delete;
  WebpWriter& operator=(const WebpWriter&) = delete;

  void write_rows(ConstHostView view) override {
    const ConstHostPlane rows = as_8_bit(view);
    if (picture_.argb == nullptr) allocate();
    if (rows.height > shape_.height - rows_taken_) fail_usage("more rows than the image has");
    for (std::int64_t y = 0; y < rows.height; ++y) take_row(rows.row(y), rows_taken_++);
  }

  [[nodiscard]] std::int64_t working_bytes() const override {
    return library_bytes() + max_file_bytes() + metadata_bytes();
  }

  // Memory for each pixel, and for histograms and hashes, which is bounded.
  [[nodiscard]] std::int64_t library_bytes() const override {
    constexpr double kTableBytes = 72, kMaxTableBytes = 44 << 20, kStateBytes = 3 << 20;
    const auto pixels = static_cast<double>(shape_.pixels());
    const double tables = compresses_losslessly() ? std::min(pixels * kTableBytes, kMaxTableBytes) : 0;
    return static_cast<std::int64_t>(pixels * bytes_per_pixel() + tables + kStateBytes);
  }

  EncodedFile finish() override {
    if (rows_taken_ != shape_.height) fail_usage("rows are missing");
    WebpFileBuilder chunks;
    picture_.writer = WebpFileBuilder::take;
    picture_.custom_ptr = &chunks;
    const bool encoded = late_webp::WebPEncode(&config_, &picture_) != 0;
    const WebPEncodingError error = picture_.error_code;
    late_webp::WebPPictureFree(&picture_);
    if (!encoded) fail(error);
    return chunks.finish(shape_, options_.mark, options_.metadata ? *options_.metadata : Metadata());
  }

 private:
  [[noreturn]] static void fail_usage(const char* reason) {
    throw Error(ErrorKind::usage, std::string("webp: ") + reason);
  }

  // A write fails only if this process lacks memory.
  [[noreturn]] static void fail(WebPEncodingError error) {
    switch (error) {
      case VP8_ENC_ERROR_OUT_OF_MEMORY:
      case VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY:
      case VP8_ENC_ERROR_BAD_WRITE:
        throw Error(ErrorKind::memory, "not enough memory");
      case VP8_ENC_ERROR_PARTITION0_OVERFLOW:
      case VP8_ENC_ERROR_PARTITION_OVERFLOW:
      case VP8_ENC_ERROR_FILE_TOO_BIG:
        fail_usage("the file would exceed the size limit of the format; choose a lower --quality");
      default:
        fail_usage("libwebp cannot write this image");
    }
  }

  [[nodiscard]] bool lossless() const { return options_.webp == WebpCoding::lossless; }

  bool configure() {
    constexpr float kDefaultQuality = 75;  // of WebPConfigInit()
    if (late_webp::WebPConfigInitInternal(&config_, WEBP_PRESET_DEFAULT, kDefaultQuality,
                                          WEBP_ENCODER_ABI_VERSION) == 0)
      return false;
    if (lossless()) {
      if (late_webp::WebPConfigLosslessPreset(&config_, options_.webp_level) == 0) return false;
    } else {
      config_.quality = static_cast<float>(options_.quality);
      config_.method = method();
    }
    config_.exact = 1;
    return late_webp::WebPValidateConfig(&config_) != 0;
  }

  void allocate() {
    picture_.use_argb = 1;
    picture_.width = static_cast<int>(shape_.width);
    picture_.height = static_cast<int>(shape_.height);
    if (late_webp::WebPPictureAlloc(&picture_) == 0) fail(picture_.error_code);
  }

  void take_row(const Sample8* in, std::int64_t y) {
    std::uint32_t* out = picture_.argb + y * picture_.argb_stride;
    for (std::int64_t x = 0; x < shape_.width; ++x, in += shape_.channels) {
      const std::uint32_t alpha = shape_.channels == 4 ? in[3] : std::uint32_t{kMaxSample};
      out[x] = alpha << 24 | std::uint32_t{in[0]} << 16 | std::uint32_t{in[1]} << 8 | in[2];
    }
  }

  [[nodiscard]] int method() const { return (2 * options_.webp_level + 1) / 3; }  // lossy: 0 to 6
  // Whether pixels or alpha are coded losslessly by more than the fastest method.
  [[nodiscard]] bool compresses_losslessly() const {
    return lossless() ? options_.webp_level > 1 : shape_.has_alpha();
  }
  // Measured (libwebp 1.2.4) on noise, photographs, and images of two values or few colours, up to 6 Mpixel.
  [[nodiscard]] double bytes_per_pixel() const {
    constexpr std::array kLossless{28.0, 36.0, 37.0, 37.0, 37.0, 37.0, 37.0, 37.0, 45.0, 53.0};  // by level
    constexpr std::array kLossy{11.0, 11.0, 11.0, 34.0, 34.0, 34.0, 34.0};                       // by method
    constexpr std::array kLossyAlpha{31.0, 38.0, 39.0, 39.0, 39.0, 55.0, 55.0};
    if (lossless()) return kLossless.at(static_cast<std::size_t>(options_.webp_level));
    return (shape_.has_alpha() ? kLossyAlpha : kLossy).at(static_cast<std::size_t>(method()));
  }
  // Returns the memory for metadata: as given, and in the file's head, whose capacity doubles as it grows.
  [[nodiscard]] std::int64_t metadata_bytes() const {
    constexpr std::int64_t kCopies = 8;
    return options_.metadata == nullptr ? 0 : kCopies * options_.metadata->bytes();
  }
  // Noise is stored uncompressed, with some overhead.
  [[nodiscard]] std::int64_t max_file_bytes() const {
    return shape_.pixels() * (shape_.channels + 1) + (64 << 10);
  }

  Shape shape_;
  EncodeOptions options_;
  WebPConfig config_{};
  WebPPicture picture_{};
  std::int64_t rows_taken_ = 0;
};

}  // namespace

std::unique_ptr<Writer> make_webp_writer(Shape shape, const EncodeOptions& options) {
  if (shape.width > WEBP_MAX_DIMENSION || shape.height > WEBP_MAX_DIMENSION) {
    throw Error(ErrorKind::usage,
                "webp is limited to " + std::to_string(WEBP_MAX_DIMENSION) + " pixels per side");
  }
  return std::make_unique<WebpWriter>(shape, options);
}

}  // namespace imgpipe
