// Reads WebP with libwebp: lossy and lossless, with alpha; the first frame of an animation.
// webp_container.cpp checks the container before libwebp sees a byte; libwebp checks the image's chunk.
//
// A frame that does not cover the canvas is placed on a transparent one: the background colour is only a hint
// (RFC 9649, section 2.7.1.1), which players ignore. Nothing lies under a first frame, so blending changes
// nothing.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "images/codecs/codec_parts.h"
#include "images/codecs/icc.h"
#include "images/codecs/sniff.h"
#include "images/codecs/webp/lossless_codes.h"
#include "images/codecs/webp/webp_codec.h"
#include "images/codecs/webp/webp_container.h"
#include "images/codecs/webp/webp_functions.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

// ---- memory that libwebp allocates, by its sources, 1.2.4 to 1.3.2, and measured ----------------------

// Memory for the codes of a lossless image: groups of five tables; the green one also has the colour cache's
// entries. libwebp lists all named groups before it drops those that no block uses.
std::int64_t code_bytes(const LosslessCodes& codes) {
  const std::int64_t cached = codes.cache_bits == 0 ? 0 : std::int64_t{1} << codes.cache_bits;
  constexpr std::int64_t kFixedEntries = 630 * 3 + 410 + 656, kGroupBytes = 640;
  return codes.groups * (4 * (kFixedEntries + cached) + kGroupBytes) + 4 * codes.named;
}

// If the available part of the file does not contain the number of groups, libwebp cannot read it either.
// Assumes the most groups that libwebp's encoder makes, each for at least one block of 4x4 pixels.
LosslessCodes max_lossless_codes(std::int64_t width, std::int64_t height) {
  constexpr std::int64_t kMaxGroups = 2600;
  const std::int64_t blocks = ((width + 3) / 4) * ((height + 3) / 4);
  const std::int64_t groups = std::min(kMaxGroups, blocks) + 1;
  return {.groups = groups, .named = groups, .block_count = 3 * blocks, .cache_bits = 11};
}

// Memory for a lossless image: four bytes per pixel, 17 more rows, the images embedded in it, its codes, and
// temporarily the codes of one embedded image.
std::int64_t lossless_bytes(const WebpImage& picture) {
  const std::int64_t width = picture.width, height = picture.height;
  const LosslessCodes codes =
      read_lossless_codes(picture.codes, width, height).value_or(max_lossless_codes(width, height));
  return 4 * (width * height + 17 * (width + 64)) + 4 * codes.block_count + code_bytes(codes) +
         code_bytes({.cache_bits = 11});
}

// Memory for a lossy image: a row of macroblocks (16x16), with their coefficients and the state of the row
// above.
std::int64_t lossy_bytes(std::int64_t width) {
  constexpr std::int64_t kMacroblockBytes = 1700;
  return ((width + 15) / 16 + 1) * kMacroblockBytes;
}

constexpr std::int64_t kStateBytes = std::int64_t{64} << 10;

std::int64_t decoder_bytes(const WebpImage& picture) {
  if (picture.lossless) return lossless_bytes(picture) + kStateBytes;
  std::int64_t bytes = lossy_bytes(picture.width) + kStateBytes;
  if (picture.has_alpha) bytes += 2 * picture.width * picture.height;
  if (picture.packed_alpha) bytes += lossless_bytes(picture);
  return bytes;
}

// ---- reading ----------------------------------------------------------------------------------------

std::string reason_of(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA:
      return "the image data is truncated";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return "the image uses a feature that libwebp does not support";
    default:
      return "the image data is damaged";
  }
}

void check(VP8StatusCode status) {
  if (status == VP8_STATUS_OUT_OF_MEMORY) throw Error(ErrorKind::memory, "not enough memory");
  if (status == VP8_STATUS_INVALID_PARAM)  // an alpha that cannot be decoded is VP8_STATUS_USER_ABORT
    throw Error(ErrorKind::usage, "WebP: libwebp rejected its parameters");
}

class WebpReader final : public WholeImageReader {
 public:
  WebpReader(Bytes file, const DecodeOptions& options)
      : WholeImageReader(options.memory), lenient_(options.lenient()) {
    WebpContents contents = read_webp_contents(file);
    picture_ = contents.picture;
    covers_ = contents.image_covers_canvas();
    header_.format = Format::webp;
    header_.shape = {contents.width, contents.height, picture_.has_alpha || !covers_ ? 4 : 3};
    check_header(header_.shape, options);
    header_.more_images = contents.has_more_images;
    constexpr auto kExifHead = "Exif\0\0"sv;  // JPEG's identifier, which some writers keep
    const bool head = matches_at(contents.exif, 0, kExifHead);
    header_.orientation = exif_orientation(contents.exif.subspan(head ? kExifHead.size() : 0));
    if (!contents.profile.empty())
      header_.profile =
          profile_name(contents.profile.first(std::min(contents.profile.size(), kMaxProfileBytes)));
    for (const std::string& fault : contents.faults) damage(fault);
    if (!contents.following.empty()) warnings_.push_back(std::move(contents.following));
    picture_bytes_ = decoder_bytes(picture_);
  }

  // Reads an image alone, with alpha.
  WebpReader(const WebpImage& image, const DecodeOptions& options)
      : WholeImageReader(options.memory), lenient_(options.lenient()), picture_(image) {
    picture_.x = picture_.y = 0;
    header_.format = Format::webp;
    header_.shape = {image.width, image.height, 4};
    picture_bytes_ = decoder_bytes(picture_);
  }

  [[nodiscard]] std::int64_t working_bytes(bool whole) const override {
    return WholeImageReader::working_bytes(whole) + library_bytes(whole);
  }
  [[nodiscard]] std::int64_t library_bytes(bool) const override { return picture_bytes_; }

 protected:
  void decode(HostView view) override {
    const HostPlane whole = view.as<Sample8>();
    if (!covers_) {
      for (std::int64_t y = 0; y < whole.height; ++y)
        std::fill_n(whole.row(y), whole.row_samples(), Sample8{0});
    }
    WebPDecoderConfig config;
    if (late_webp::WebPInitDecoderConfigInternal(&config, WEBP_DECODER_ABI_VERSION) == 0)
      throw Error(ErrorKind::usage, "WebP: the libwebp version differs from the one imgpipe was built with");
    HostPlane frame_view = whole.rows(picture_.y, picture_.height);
    frame_view.data += picture_.x * whole.channels;
    frame_view.width = picture_.width;
    config.output.colorspace = whole.channels == 4 ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = frame_view.data;
    config.output.u.RGBA.stride = static_cast<int>(frame_view.stride);
    config.output.u.RGBA.size =
        static_cast<std::size_t>(frame_view.stride * (frame_view.height - 1) + frame_view.row_samples());
    const VP8StatusCode status = late_webp::WebPDecode(data(), picture_.data.size(), &config);
    if (status == VP8_STATUS_OK) return;
    check(status);
    check_library_memory(picture_bytes_);  // libwebp reports alpha or codes that lack memory as damaged
    damage(reason_of(status));
    recover(config, frame_view);
  }

 private:
  [[nodiscard]] const std::uint8_t* data() const {
    return reinterpret_cast<const std::uint8_t*>(picture_.data.data());
  }

  // Reports the first damage that costs pixels, or may do so.
  void damage(const std::string& what) {
    if (!lenient_) throw Error(ErrorKind::input, "WebP: " + what);
    if (!std::exchange(damaged_, true)) warnings_.push_back("damaged WebP: " + what);
  }

  // --lenient: decodes the rows that it can, and makes the rest mid-grey.
  void recover(WebPDecoderConfig& config, HostPlane frame_view) const {
    int made = 0;
    WebPIDecoder* decoder = late_webp::WebPIDecode(nullptr, 0, &config);
    if (decoder == nullptr) throw Error(ErrorKind::memory, "not enough memory");
    const VP8StatusCode status = late_webp::WebPIUpdate(decoder, data(), picture_.data.size());
    (void)late_webp::WebPIDecGetRGB(decoder, &made, nullptr, nullptr, nullptr);
    late_webp::WebPIDelete(decoder);
    check(status);
    for (std::int64_t y = made; y < frame_view.height; ++y)
      fill_missing(frame_view.row(y), frame_view.width, frame_view.channels);
  }

  bool lenient_;
  bool damaged_ = false;
  bool covers_ = true;
  WebpImage picture_;
  std::int64_t picture_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Reader> open_webp(Bytes file, const DecodeOptions& options) {
  return std::make_unique<WebpReader>(file, options);
}

std::unique_ptr<Reader> open_webp_image(const WebpImage& image, const DecodeOptions& options) {
  return std::make_unique<WebpReader>(image, options);
}

}  // namespace imgpipe
