// Reads AVIF with libavif: the primary image, with alpha, 8 to 12 bits. heif_container.cpp reads the
// container before libavif sees it; libavif and the AV1 decoder check the rest.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "images/codecs/avif/avif_codec.h"
#include "images/codecs/avif/avif_functions.h"
#include "images/codecs/heif/heif_codec.h"
#include "images/error.h"
#include "images/memory/available_memory.h"

namespace imgpipe {
namespace {

struct AvifDecoderEnd {
  void operator()(avifDecoder* decoder) const { late_avif::avifDecoderDestroy(decoder); }
};

[[noreturn]] void fail(avifResult result) {
  switch (result) {
    case AVIF_RESULT_OUT_OF_MEMORY:
      throw Error(ErrorKind::memory, "not enough memory");
    case AVIF_RESULT_NO_CODEC_AVAILABLE:
      throw Error(ErrorKind::usage, "AVIF: libavif has no AV1 decoder");
    case AVIF_RESULT_TRUNCATED_DATA:
      throw Error(ErrorKind::input, "AVIF: the file is truncated");
    case AVIF_RESULT_UNSUPPORTED_DEPTH:
    case AVIF_RESULT_NOT_IMPLEMENTED:
    case AVIF_RESULT_REFORMAT_FAILED:
      throw Error(ErrorKind::input, "AVIF: the image uses a feature that libavif does not support");
    case AVIF_RESULT_DECODE_COLOR_FAILED:
    case AVIF_RESULT_DECODE_ALPHA_FAILED:
      throw Error(ErrorKind::input, "AVIF: the image data is damaged");
    default:
      throw Error(ErrorKind::input, "AVIF: the container is damaged (" +
                                        std::string(late_avif::avifResultToString(result)) + ")");
  }
}

void check(avifResult result) {
  if (result != AVIF_RESULT_OK) fail(result);
}

int samples_of(const avifImage& image) {
  return image.yuvFormat == AVIF_PIXEL_FORMAT_YUV400 ? 1 : 3;
}

class AvifReader final : public WholeImageReader {
 public:
  AvifReader(Bytes file, const DecodeOptions& options)
      : WholeImageReader(options.memory), decoder_(late_avif::avifDecoderCreate()) {
    HeifStart start = start_heif(file, Format::avif, "AVIF", options);
    header_ = std::move(start.header);
    warnings_ = std::move(start.warnings);
    contents_ = std::move(start.contents);
    if (decoder_ == nullptr) throw Error(ErrorKind::memory, "not enough memory");
    limit(file.size());
    check(late_avif::avifDecoderSetIOMemory(decoder_.get(),
                                            reinterpret_cast<const std::uint8_t*>(file.data()), file.size()));
    check(late_avif::avifDecoderSetSource(decoder_.get(), AVIF_DECODER_SOURCE_PRIMARY_ITEM));
    check(late_avif::avifDecoderParse(decoder_.get()));
    const avifImage& image = *decoder_->image;
    depth_ = image.depth;
    layout_ = image.yuvFormat;
    if (image.width != contents_.width || image.height != contents_.height) fail_contradiction();
    // libavif divides by alpha only while it converts to RGB.
    const int colors = image.alphaPremultiplied ? 3 : samples_of(image);
    header_.shape.channels = colors + (decoder_->alphaPresent ? 1 : 0);
    header_.bits_per_sample = static_cast<int>(depth_);
    header_.shape.sample = decoded_sample(header_.bits_per_sample, options.max_bits);
  }

  [[nodiscard]] std::int64_t working_bytes(bool whole) const override {
    return WholeImageReader::working_bytes(whole) + library_bytes(whole) + converted_bytes();
  }
  // The AV1 decoder's frames of colours and alpha, with the same again for film grain, a grid's tiles or
  // scaling, and its state per block (dav1d 1.0, measured).
  [[nodiscard]] std::int64_t library_bytes(bool) const override {
    constexpr std::int64_t kStateBytes = std::int64_t{24} << 20, kBorder = 160;
    const auto padded = [](std::int64_t side) { return side + kBorder; };
    const std::int64_t pixels = std::max(padded(contents_.width) * padded(contents_.height),
                                         padded(contents_.largest.width) * padded(contents_.largest.height));
    const std::int64_t samples =
        (layout_ == AVIF_PIXEL_FORMAT_YUV400 ? 1 : 3) + (header_.shape.has_alpha() ? 1 : 0);
    return pixels * (2 * samples * (depth_ > 8 ? 2 : 1) + 2) + kStateBytes;
  }

 protected:
  void decode(HostView whole) override {
    const avifResult result = late_avif::avifDecoderNextImage(decoder_.get());
    if (result != AVIF_RESULT_OK) check_library_memory(library_bytes(true));
    check(result);
    const avifImage& image = *decoder_->image;
    const bool has_alpha = image.alphaPlane != nullptr;
    if (image.width != contents_.width || image.height != contents_.height || image.depth != depth_ ||
        image.yuvFormat != layout_ || has_alpha != header_.shape.has_alpha())
      fail_contradiction();
    if (whole.shape().color_channels() == 1) {
      take_grey(image, whole);
    } else {
      take_colors(image, whole);
    }
  }

 private:
  void limit(std::size_t file_bytes) {
    const std::int64_t most =
        std::max(contents_.width * contents_.height, contents_.largest.width * contents_.largest.height);
    if (most > AVIF_DEFAULT_IMAGE_SIZE_LIMIT)
      throw Error(ErrorKind::input, "AVIF: too large for libavif: " + std::to_string(contents_.width) + "x" +
                                        std::to_string(contents_.height) + " pixels; expected at most " +
                                        std::to_string(AVIF_DEFAULT_IMAGE_SIZE_LIMIT));
    decoder_->maxThreads = 1;
    decoder_->ignoreExif = decoder_->ignoreXMP = AVIF_TRUE;  // found by heif_container.cpp
    decoder_->imageSizeLimit = static_cast<std::uint32_t>(most);
    decoder_->imageDimensionLimit = 0;
    decoder_->imageCountLimit =
        static_cast<std::uint32_t>(std::min<std::size_t>(file_bytes, AVIF_DEFAULT_IMAGE_COUNT_LIMIT));
    // Files of old encoders lack the property pixi; heif_container.cpp applies the clean aperture.
    decoder_->strictFlags = AVIF_STRICT_ENABLED &
                            ~static_cast<avifStrictFlags>(AVIF_STRICT_PIXI_REQUIRED | AVIF_STRICT_CLAP_VALID);
  }

  [[noreturn]] static void fail_contradiction() {
    throw Error(ErrorKind::input, "AVIF: the image differs from its description in the container");
  }

  [[nodiscard]] bool is_cropped() const {
    return contents_.crop.width != contents_.width || contents_.crop.height != contents_.height;
  }
  [[nodiscard]] Shape converted_shape() const {
    return {contents_.width, contents_.height, header_.shape.channels, depth_ > 8 ? Sample::u16 : Sample::u8};
  }
  [[nodiscard]] bool converts_in_place() const {
    return !is_cropped() && converted_shape().sample == header_.shape.sample;
  }
  [[nodiscard]] std::int64_t converted_bytes() const {
    return header_.shape.color_channels() == 1 || converts_in_place() ? 0 : converted_shape().bytes();
  }

  // Converts to RGB at the image's depth by libavif's own code, whose result does not depend on the processor
  // (libyuv's may), with bilinear chroma; then scales.
  void take_colors(const avifImage& image, HostView out) {
    Image storage;
    HostView stored = out;
    if (!converts_in_place()) {
      storage = Image(converted_shape(), memory());
      stored = storage.untyped_view();
    }
    avifRGBImage rgb;
    late_avif::avifRGBImageSetDefaults(&rgb, &image);
    rgb.format = stored.shape().has_alpha() ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
    rgb.chromaUpsampling = AVIF_CHROMA_UPSAMPLING_BILINEAR;
    rgb.avoidLibYUV = AVIF_TRUE;
    rgb.pixels = reinterpret_cast<std::uint8_t*>(stored.data);
    rgb.rowBytes = static_cast<std::uint32_t>(stored.stride_bytes);
    check(late_avif::avifImageYUVToRGB(&image, &rgb));
    HostView cropped = stored.rows(contents_.crop.y, contents_.crop.height);
    cropped.data += contents_.crop.x * Shape{1, 1, stored.channels, stored.sample}.bytes();
    cropped.width = contents_.crop.width;
    scale_rows(cropped, header_.bits_per_sample, out);
  }

  void take_grey(const avifImage& image, HostView out) const {
    visit_sample(out.sample, [&]<class T>(T) {
      if (depth_ > 8) {
        take_grey_rows<std::uint16_t>(image, out.as<T>());
      } else {
        take_grey_rows<std::uint8_t>(image, out.as<T>());
      }
    });
  }

  template <class From, class To>
  void take_grey_rows(const avifImage& image, Plane<To, Host> out) const {
    const auto bits = static_cast<int>(depth_);
    const std::uint32_t most = (1U << depth_) - 1;
    const auto scaled = [&](int value) {
      return static_cast<To>((static_cast<std::uint32_t>(value) * kLargest<To> + most / 2) / most);
    };
    const bool is_limited = image.yuvRange == AVIF_RANGE_LIMITED;
    for (std::int64_t y = 0; y < out.height; ++y) {
      const auto row = static_cast<std::size_t>(y + contents_.crop.y);
      const auto* grey =
          reinterpret_cast<const From*>(image.yuvPlanes[AVIF_CHAN_Y] + row * image.yuvRowBytes[AVIF_CHAN_Y]) +
          contents_.crop.x;
      for (std::int64_t x = 0; x < out.width; ++x)
        out.row(y)[x * out.channels] =
            scaled(is_limited ? late_avif::avifLimitedToFullY(bits, grey[x]) : grey[x]);
      if (out.channels == 1) continue;
      const auto* alpha =
          reinterpret_cast<const From*>(image.alphaPlane + row * image.alphaRowBytes) + contents_.crop.x;
      for (std::int64_t x = 0; x < out.width; ++x) out.row(y)[2 * x + 1] = scaled(alpha[x]);
    }
  }

  HeifContents contents_;
  std::unique_ptr<avifDecoder, AvifDecoderEnd> decoder_;
  std::uint32_t depth_ = 8;
  avifPixelFormat layout_ = AVIF_PIXEL_FORMAT_NONE;
};

}  // namespace

std::unique_ptr<Reader> open_avif(Bytes file, const DecodeOptions& options) {
  return std::make_unique<AvifReader>(file, options);
}

}  // namespace imgpipe
