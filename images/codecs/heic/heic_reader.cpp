// Reads HEIC with libheif: the primary image, also of tiles, with alpha, 8 to 12 bits. heif_container.cpp and
// hevc_size.cpp check the sizes before libheif sees the file; libheif and the HEVC decoder check the rest.
#include <algorithm>
#include <bit>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "images/codecs/heic/heic_codec.h"
#include "images/codecs/heic/heif_functions.h"
#include "images/codecs/heic/hevc_size.h"
#include "images/codecs/heif/heif_codec.h"
#include "images/error.h"

namespace imgpipe {
namespace {

struct HeifEnd {
  void operator()(heif_context* context) const { late_heif::heif_context_free(context); }
  void operator()(const heif_image_handle* handle) const { late_heif::heif_image_handle_release(handle); }
  void operator()(const heif_image* image) const { late_heif::heif_image_release(image); }
  void operator()(heif_decoding_options* options) const { late_heif::heif_decoding_options_free(options); }
};

void check(const heif_error& error) {
  switch (error.code) {
    case heif_error_Ok:
      return;
    case heif_error_Memory_allocation_error:
      if (error.subcode == heif_suberror_Security_limit_exceeded)
        throw Error(ErrorKind::input, "HEIC: the container exceeds a limit of libheif");
      throw Error(ErrorKind::memory, "not enough memory");
    case heif_error_Unsupported_filetype:
    case heif_error_Unsupported_feature:
      if (error.subcode == heif_suberror_Unsupported_codec)
        throw Error(ErrorKind::input,
                    "HEIC: libheif has no decoder for this image; install libheif's plugin libde265");
      throw Error(ErrorKind::input, "HEIC: the image uses a feature that libheif does not support");
    case heif_error_Decoder_plugin_error:
      throw Error(ErrorKind::input, "HEIC: the image data is damaged");
    default:
      throw Error(ErrorKind::input, "HEIC: the container is damaged");
  }
}

// libheif is C++ and lets some of its exceptions through.
template <class Action>
auto guarded(const Action& action) {
  try {
    return action();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::memory, "not enough memory");
  } catch (const std::exception&) {
    throw Error(ErrorKind::input, "HEIC: the container is damaged");
  }
}

class HeicReader final : public WholeImageReader {
 public:
  HeicReader(Bytes file, const DecodeOptions& options) : WholeImageReader(options.memory) {
    HeifStart start = start_heif(file, Format::heic, "HEIC", options);
    header_ = std::move(start.header);
    warnings_ = std::move(start.warnings);
    contents_ = std::move(start.contents);
    check_coded_size(file);
    guarded([&] { open(file, options); });
  }

  [[nodiscard]] std::int64_t working_bytes(bool whole) const override {
    return WholeImageReader::working_bytes(whole) + library_bytes(whole);
  }
  // libheif holds the decoded planes, those of the alpha, and the pixels converted from them (libheif 1.15
  // with libde265 1.0, measured).
  [[nodiscard]] std::int64_t library_bytes(bool) const override {
    constexpr std::int64_t kStateBytes = std::int64_t{32} << 20;
    const std::int64_t sample_bytes = header_.bits_per_sample > 8 ? 2 : 1;
    return most_samples() * (header_.shape.has_alpha() ? 14 : 12) * sample_bytes + kStateBytes;
  }

 protected:
  void decode(HostView whole) override {
    guarded([&] { decode_image(whole); });
  }

 private:
  // The coded size is a multiple of the coding block's, at most 64 samples.
  [[nodiscard]] std::int64_t most_samples() const {
    const auto padded = [](std::int64_t side) { return side + 64; };
    return std::max(padded(contents_.width) * padded(contents_.height),
                    padded(contents_.largest.width) * padded(contents_.largest.height));
  }

  void check_coded_size(Bytes file) const {
    if (most_hevc_samples(read_heif_items(file)) > most_samples()) fail_contradiction();
  }

  [[noreturn]] static void fail_contradiction() {
    throw Error(ErrorKind::input, "HEIC: the image differs from its description in the container");
  }

  void open(Bytes file, const DecodeOptions& options) {
    context_.reset(late_heif::heif_context_alloc());
    if (context_ == nullptr) throw Error(ErrorKind::memory, "not enough memory");
    late_heif::heif_context_set_max_decoding_threads(context_.get(), 0);
    check(late_heif::heif_context_read_from_memory_without_copy(context_.get(), file.data(), file.size(),
                                                                nullptr));
    heif_image_handle* handle = nullptr;
    check(late_heif::heif_context_get_primary_image_handle(context_.get(), &handle));
    handle_.reset(handle);
    if (late_heif::heif_image_handle_get_ispe_width(handle) != contents_.width ||
        late_heif::heif_image_handle_get_ispe_height(handle) != contents_.height)
      fail_contradiction();
    const int bits = late_heif::heif_image_handle_get_luma_bits_per_pixel(handle);
    if (bits < 8 || bits > 16)
      throw Error(ErrorKind::input, "HEIC: the image uses a feature that libheif does not support");
    const bool has_alpha = late_heif::heif_image_handle_has_alpha_channel(handle) != 0;
    header_.shape.channels = (contents_.coding.is_grey ? 1 : 3) + (has_alpha ? 1 : 0);
    header_.bits_per_sample = bits;
    header_.shape.sample = decoded_sample(bits, options.max_bits);
  }

  void decode_image(HostView out) {
    const std::unique_ptr<heif_decoding_options, HeifEnd> options(late_heif::heif_decoding_options_alloc());
    if (options == nullptr) throw Error(ErrorKind::memory, "not enough memory");
    options->ignore_transformations = 1;  // applied by this reader and make_oriented_reader()
    options->strict_decoding = 1;
    heif_image* decoded = nullptr;
    const heif_error error = late_heif::heif_decode_image(handle_.get(), &decoded, heif_colorspace_RGB,
                                                          interleaved_chroma(), options.get());
    const std::unique_ptr<const heif_image, HeifEnd> image(decoded);
    if (error.code != heif_error_Ok) check_library_memory(library_bytes(true));
    check(error);
    const ConstHostView colors = displayed(*image, out.shape().has_alpha() ? 4 : 3);
    if (out.shape().color_channels() == 1) {
      visit_sample(colors.sample, [&]<class T>(T) { take_grey(colors.as<T>(), out); });
    } else {
      scale_rows(colors, header_.bits_per_sample, out);
    }
    if (out.shape().has_alpha() && late_heif::heif_image_handle_is_premultiplied_alpha(handle_.get()) != 0)
      visit_sample(out.sample, [&]<class T>(T) { divide_by_alpha(out.as<T>()); });
  }

  [[nodiscard]] heif_chroma interleaved_chroma() const {
    constexpr bool kLittle = std::endian::native == std::endian::little;
    const bool has_alpha = header_.shape.has_alpha();
    if (header_.bits_per_sample == 8)
      return has_alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB;
    if (kLittle) return has_alpha ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RRGGBB_LE;
    return has_alpha ? heif_chroma_interleaved_RRGGBBAA_BE : heif_chroma_interleaved_RRGGBB_BE;
  }

  // Returns the displayed part of a decoded image.
  [[nodiscard]] ConstHostView displayed(const heif_image& image, int channels) const {
    constexpr heif_channel kPixels = heif_channel_interleaved;
    int stride = 0;
    const std::uint8_t* data = late_heif::heif_image_get_plane_readonly(&image, kPixels, &stride);
    if (data == nullptr || late_heif::heif_image_get_width(&image, kPixels) != contents_.width ||
        late_heif::heif_image_get_height(&image, kPixels) != contents_.height ||
        late_heif::heif_image_get_bits_per_pixel_range(&image, kPixels) != header_.bits_per_sample)
      fail_contradiction();
    const Shape shape{contents_.crop.width, contents_.crop.height, channels,
                      header_.bits_per_sample > 8 ? Sample::u16 : Sample::u8};
    return {reinterpret_cast<const std::byte*>(data) + contents_.crop.y * stride +
                contents_.crop.x * Shape{1, 1, channels, shape.sample}.bytes(),
            shape, stride};
  }

  // libheif has converted grey to RGB; takes red, and alpha.
  template <class T>
  void take_grey(Plane<const T, Host> colors, HostView out) const {
    Image row({out.width, 1, out.channels, sample_type_of<T>}, memory());
    const Plane<T, Host> grey = row.untyped_view().as<T>();
    for (std::int64_t y = 0; y < out.height; ++y) {
      const T* in = colors.row(y);
      for (std::int64_t x = 0; x < out.width; ++x, in += colors.channels) {
        grey.row(0)[x * out.channels] = in[0];
        if (out.channels == 2) grey.row(0)[2 * x + 1] = in[3];
      }
      scale_rows(std::as_const(row).untyped_view(), header_.bits_per_sample, out.rows(y, 1));
    }
  }

  // As for TIFF: (v * m + a / 2) / a, at most m.
  template <class T>
  static void divide_by_alpha(Plane<T, Host> out) {
    constexpr std::uint32_t kMost = kLargest<T>;
    for (std::int64_t y = 0; y < out.height; ++y) {
      T* pixel = out.row(y);
      for (std::int64_t x = 0; x < out.width; ++x, pixel += out.channels) {
        const std::uint32_t alpha = pixel[out.channels - 1];
        if (alpha == 0) continue;
        for (int c = 0; c + 1 < out.channels; ++c)
          pixel[c] = static_cast<T>(std::min(kMost, (pixel[c] * kMost + alpha / 2) / alpha));
      }
    }
  }

  HeifContents contents_;
  std::unique_ptr<heif_context, HeifEnd> context_;
  std::unique_ptr<const heif_image_handle, HeifEnd> handle_;
};

}  // namespace

std::unique_ptr<Reader> open_heic(Bytes file, const DecodeOptions& options) {
  return std::make_unique<HeicReader>(file, options);
}

}  // namespace imgpipe
