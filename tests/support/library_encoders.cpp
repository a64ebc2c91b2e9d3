#include "tests/support/library_encoders.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>

#ifdef IMGPIPE_WITH_AVIF
#include <avif/avif.h>
#endif
#ifdef IMGPIPE_WITH_HEIC
#include <libheif/heif.h>
#endif
#ifdef IMGPIPE_WITH_JXL
#include <jxl/encode.h>
#endif

// GCC defines a macro, Clang has a feature.
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define IMGPIPE_DETECTS_LEAKS
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define IMGPIPE_DETECTS_LEAKS
#endif
#ifdef IMGPIPE_DETECTS_LEAKS
#include <sanitizer/lsan_interface.h>
#endif

namespace imgpipe::test {
namespace {

[[maybe_unused]] void need(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(std::string(what) + " does not make the file");
}

[[maybe_unused]] const std::uint8_t* data_of(const Bytes& bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes.data());
}

[[maybe_unused]] Bytes joined(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

#ifdef IMGPIPE_WITH_AVIF
// Copies one channel of the pixels to a plane.
void copy_channel(ConstHostView pixels, int channel, std::uint8_t* plane, std::size_t row_bytes) {
  const auto bytes = static_cast<std::size_t>(bytes_per_sample(pixels.sample));
  for (std::int64_t y = 0; y < pixels.height; ++y) {
    for (std::int64_t x = 0; x < pixels.width; ++x)
      std::memcpy(plane + static_cast<std::size_t>(y) * row_bytes + static_cast<std::size_t>(x) * bytes,
                  pixels.row(y) + static_cast<std::size_t>(x * pixels.channels + channel) * bytes, bytes);
  }
}

Bytes make_avif(ConstHostView pixels, const LibraryCoding& coding) {
  const bool is_grey = pixels.shape().color_channels() == 1;
  const std::unique_ptr<avifImage, decltype(&avifImageDestroy)> image(
      avifImageCreate(static_cast<std::uint32_t>(pixels.width), static_cast<std::uint32_t>(pixels.height),
                      static_cast<std::uint32_t>(coding.bits),
                      is_grey           ? AVIF_PIXEL_FORMAT_YUV400
                      : coding.lossless ? AVIF_PIXEL_FORMAT_YUV444
                                        : AVIF_PIXEL_FORMAT_YUV420),
      avifImageDestroy);
  image->yuvRange = AVIF_RANGE_FULL;
  image->matrixCoefficients =
      coding.lossless && !is_grey ? AVIF_MATRIX_COEFFICIENTS_IDENTITY : AVIF_MATRIX_COEFFICIENTS_BT601;
  avifImageAllocatePlanes(image.get(), AVIF_PLANES_ALL);
  if (is_grey) {
    copy_channel(pixels, 0, image->yuvPlanes[0], image->yuvRowBytes[0]);
  } else {
    std::vector<std::byte> rows(static_cast<std::size_t>(pixels.bytes()));
    for (std::int64_t y = 0; y < pixels.height; ++y)
      std::memcpy(rows.data() + y * pixels.row_bytes(), pixels.row(y),
                  static_cast<std::size_t>(pixels.row_bytes()));
    avifRGBImage rgb;
    avifRGBImageSetDefaults(&rgb, image.get());
    rgb.format = pixels.channels == 4 ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
    rgb.pixels = reinterpret_cast<std::uint8_t*>(rows.data());
    rgb.rowBytes = static_cast<std::uint32_t>(pixels.row_bytes());
    need(avifImageRGBToYUV(image.get(), &rgb) == AVIF_RESULT_OK, "libavif");
  }
  if (pixels.shape().has_alpha())
    copy_channel(pixels, pixels.channels - 1, image->alphaPlane, image->alphaRowBytes);
  else
    avifImageFreePlanes(image.get(), AVIF_PLANES_A);
  if (!coding.exif.empty()) avifImageSetMetadataExif(image.get(), data_of(coding.exif), coding.exif.size());
  if (!coding.xmp.empty()) avifImageSetMetadataXMP(image.get(), data_of(coding.xmp), coding.xmp.size());
  if (!coding.icc.empty()) avifImageSetProfileICC(image.get(), data_of(coding.icc), coding.icc.size());
  image->transformFlags = AVIF_TRANSFORM_NONE;  // not EXIF's orientation
  if (coding.quarter_turns != 0) image->transformFlags |= AVIF_TRANSFORM_IROT;
  if (coding.mirror >= 0) image->transformFlags |= AVIF_TRANSFORM_IMIR;
  image->irot.angle = static_cast<std::uint8_t>(coding.quarter_turns);
  image->imir.mode = static_cast<std::uint8_t>(std::max(coding.mirror, 0));
  const std::unique_ptr<avifEncoder, decltype(&avifEncoderDestroy)> encoder(avifEncoderCreate(),
                                                                            avifEncoderDestroy);
  encoder->codecChoice = AVIF_CODEC_CHOICE_AOM;
  encoder->speed = AVIF_SPEED_FASTEST;
  const int quantizer = coding.lossless ? 0 : 20;
  encoder->minQuantizer = encoder->maxQuantizer = quantizer;
  encoder->minQuantizerAlpha = encoder->maxQuantizerAlpha = quantizer;
  avifRWData out = AVIF_DATA_EMPTY;
  need(avifEncoderWrite(encoder.get(), image.get(), &out) == AVIF_RESULT_OK, "libavif");
  const auto* bytes = reinterpret_cast<const std::byte*>(out.data);
  Bytes file(bytes, bytes + out.size);
  avifRWDataFree(&out);
  return file;
}
#endif

#ifdef IMGPIPE_WITH_HEIC
bool has_heic_encoder() {
  heif_encoder* encoder = nullptr;
  heif_context* context = heif_context_alloc();
  const heif_error error = heif_context_get_encoder_for_format(context, heif_compression_HEVC, &encoder);
  if (encoder != nullptr) heif_encoder_release(encoder);
  heif_context_free(context);
  return error.code == heif_error_Ok;
}

Bytes make_heic(ConstHostView pixels, const LibraryCoding& coding) {
#ifdef IMGPIPE_DETECTS_LEAKS
  const __lsan::ScopedDisabler x265_leaks;
#endif
  const std::unique_ptr<heif_context, decltype(&heif_context_free)> context(heif_context_alloc(),
                                                                            heif_context_free);
  const bool is_grey = pixels.shape().color_channels() == 1, has_alpha = pixels.shape().has_alpha();
  need(!(is_grey && has_alpha), "libheif");
  const bool wide = coding.bits > 8;
  const heif_chroma chroma = is_grey ? heif_chroma_monochrome
                             : has_alpha
                                 ? (wide ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RGBA)
                             : wide ? heif_chroma_interleaved_RRGGBB_LE
                                    : heif_chroma_interleaved_RGB;
  const heif_channel channel = is_grey ? heif_channel_Y : heif_channel_interleaved;
  const int width = static_cast<int>(pixels.width), height = static_cast<int>(pixels.height);
  heif_image* made = nullptr;
  need(heif_image_create(width, height, is_grey ? heif_colorspace_monochrome : heif_colorspace_RGB, chroma,
                         &made)
               .code == heif_error_Ok,
       "libheif");
  const std::unique_ptr<const heif_image, decltype(&heif_image_release)> image(made, heif_image_release);
  need(heif_image_add_plane(made, channel, width, height, coding.bits).code == heif_error_Ok, "libheif");
  int stride = 0;
  std::uint8_t* plane = heif_image_get_plane(made, channel, &stride);
  for (std::int64_t y = 0; y < pixels.height; ++y)
    std::memcpy(plane + y * stride, pixels.row(y), static_cast<std::size_t>(pixels.row_bytes()));
  if (!coding.icc.empty())
    (void)heif_image_set_raw_color_profile(made, "prof", coding.icc.data(), coding.icc.size());
  heif_encoder* encoder = nullptr;
  need(heif_context_get_encoder_for_format(context.get(), heif_compression_HEVC, &encoder).code ==
           heif_error_Ok,
       "libheif");
  const std::unique_ptr<heif_encoder, decltype(&heif_encoder_release)> owner(encoder, heif_encoder_release);
  (void)heif_encoder_set_lossless(encoder, coding.lossless ? 1 : 0);
  (void)heif_encoder_set_parameter(encoder, "preset", "ultrafast");
  heif_image_handle* handle = nullptr;
  need(heif_context_encode_image(context.get(), made, encoder, nullptr, &handle).code == heif_error_Ok,
       "libheif");
  if (!coding.exif.empty())
    (void)heif_context_add_exif_metadata(context.get(), handle, coding.exif.data(),
                                         static_cast<int>(coding.exif.size()));
  if (!coding.xmp.empty())
    (void)heif_context_add_XMP_metadata(context.get(), handle, coding.xmp.data(),
                                        static_cast<int>(coding.xmp.size()));
  heif_image_handle_release(handle);
  Bytes file;
  heif_writer writer{1, [](heif_context*, const void* data, std::size_t size, void* to) {
                       const auto* bytes = static_cast<const std::byte*>(data);
                       static_cast<Bytes*>(to)->assign(bytes, bytes + size);
                       return heif_error{heif_error_Ok, heif_suberror_Unspecified, "Success"};
                     }};
  need(heif_context_write(context.get(), &writer, &file).code == heif_error_Ok, "libheif");
  return file;
}
#endif

#ifdef IMGPIPE_WITH_JXL
Bytes make_jxl(ConstHostView pixels, const LibraryCoding& coding) {
  const std::unique_ptr<JxlEncoder, decltype(&JxlEncoderDestroy)> encoder(JxlEncoderCreate(nullptr),
                                                                          JxlEncoderDestroy);
  const auto done = [](JxlEncoderStatus status) { need(status == JXL_ENC_SUCCESS, "libjxl"); };
  const bool has_alpha = pixels.shape().has_alpha(), wide = coding.bits > 8;
  if (!coding.exif.empty() || !coding.xmp.empty()) done(JxlEncoderUseBoxes(encoder.get()));
  JxlBasicInfo info;
  JxlEncoderInitBasicInfo(&info);
  info.xsize = static_cast<std::uint32_t>(pixels.width);
  info.ysize = static_cast<std::uint32_t>(pixels.height);
  info.bits_per_sample = static_cast<std::uint32_t>(coding.bits);
  info.num_color_channels = static_cast<std::uint32_t>(pixels.shape().color_channels());
  info.num_extra_channels = has_alpha ? 1 : 0;
  info.alpha_bits = has_alpha ? info.bits_per_sample : 0;
  info.uses_original_profile = coding.lossless ? JXL_TRUE : JXL_FALSE;
  info.orientation = static_cast<JxlOrientation>(coding.orientation);
  done(JxlEncoderSetBasicInfo(encoder.get(), &info));
  if (coding.icc.empty()) {
    JxlColorEncoding color{};
    JxlColorEncodingSetToSRGB(&color, pixels.shape().color_channels() == 1 ? JXL_TRUE : JXL_FALSE);
    done(JxlEncoderSetColorEncoding(encoder.get(), &color));
  } else {
    done(JxlEncoderSetICCProfile(encoder.get(), data_of(coding.icc), coding.icc.size()));
  }
  JxlEncoderFrameSettings* settings = JxlEncoderFrameSettingsCreate(encoder.get(), nullptr);
  done(JxlEncoderSetFrameLossless(settings, coding.lossless ? JXL_TRUE : JXL_FALSE));
  done(JxlEncoderFrameSettingsSetOption(settings, JXL_ENC_FRAME_SETTING_EFFORT, 3));
  // Samples of other than 8 and 16 bits are passed scaled to 16 bits.
  Image scaled(pixels.shape());
  copy_pixels(pixels, scaled.untyped_view());
  std::vector<std::byte> rows(static_cast<std::size_t>(pixels.bytes()));
  const std::uint32_t most = (1U << coding.bits) - 1;
  for (std::int64_t y = 0; y < pixels.height; ++y) {
    if (wide) {
      for (std::int64_t i = 0; i < pixels.width * pixels.channels; ++i) {
        Sample16& value = scaled.untyped_view().as<Sample16>().row(y)[i];
        value = static_cast<Sample16>((value * 65535U + most / 2) / most);
      }
    }
    std::memcpy(rows.data() + y * pixels.row_bytes(), scaled.untyped_view().row(y),
                static_cast<std::size_t>(pixels.row_bytes()));
  }
  const JxlPixelFormat format{static_cast<std::uint32_t>(pixels.channels),
                              wide ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
  const auto add_box = [&](const char* type, const Bytes& box) {
    if (!box.empty())
      done(JxlEncoderAddBox(encoder.get(), type, data_of(box), box.size(),
                            coding.packed_boxes ? JXL_TRUE : JXL_FALSE));
  };
  add_box("Exif", coding.exif.empty() ? Bytes() : joined(Bytes(4), coding.exif));
  add_box("xml ", coding.xmp);
  done(JxlEncoderAddImageFrame(settings, &format, rows.data(), rows.size()));
  JxlEncoderCloseInput(encoder.get());
  Bytes file(std::size_t{1} << 22);
  auto* next = reinterpret_cast<std::uint8_t*>(file.data());
  std::size_t left = file.size();
  done(JxlEncoderProcessOutput(encoder.get(), &next, &left));
  file.resize(file.size() - left);
  return file;
}
#endif

}  // namespace

Bytes encode_by_library([[maybe_unused]] Format format, [[maybe_unused]] ConstHostView pixels,
                        [[maybe_unused]] const LibraryCoding& coding) {
#ifdef IMGPIPE_WITH_AVIF
  if (format == Format::avif) return make_avif(pixels, coding);
#endif
#ifdef IMGPIPE_WITH_HEIC
  if (format == Format::heic) return make_heic(pixels, coding);
#endif
#ifdef IMGPIPE_WITH_JXL
  if (format == Format::jxl) return make_jxl(pixels, coding);
#endif
  return {};
}

std::vector<Format> library_formats() {
  std::vector<Format> formats;
#ifdef IMGPIPE_WITH_AVIF
  if (avifCodecName(AVIF_CODEC_CHOICE_AOM, AVIF_CODEC_FLAG_CAN_ENCODE) != nullptr)
    formats.push_back(Format::avif);
#endif
#ifdef IMGPIPE_WITH_HEIC
  if (has_heic_encoder()) formats.push_back(Format::heic);
#endif
#ifdef IMGPIPE_WITH_JXL
  formats.push_back(Format::jxl);
#endif
  return formats;
}

}  // namespace imgpipe::test
