// Reads JPEG XL with libjxl: the first displayed frame, with alpha, 1 to 16 bits. jxl_frames.cpp checks the
// sizes of its frames before libjxl decodes one.
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "images/codecs/icc.h"
#include "images/codecs/jxl/jxl_codec.h"
#include "images/codecs/jxl/jxl_decoder.h"
#include "images/codecs/jxl/jxl_frames.h"
#include "images/codecs/jxl/jxl_functions.h"
#include "images/error.h"

namespace imgpipe {
namespace {

class JxlReader final : public WholeImageReader {
 public:
  JxlReader(Bytes file, const DecodeOptions& options)
      : WholeImageReader(options.memory), lenient_(options.lenient()), contents_(read_jxl_contents(file)) {
    if (contents_.is_truncated) damage("the file is truncated");
    const JxlHeaders headers = read_jxl_headers(contents_.codestream);
    const JxlBasicInfo& info = headers.info;
    header_.format = Format::jxl;
    header_.shape = {info.xsize, info.ysize,
                     static_cast<int>(info.num_color_channels) + (headers.has_alpha() ? 1 : 0)};
    check_header(header_.shape, options);
    if (headers.has_black) throw Error(ErrorKind::input, "JPEG XL: CMYK images are not supported");
    header_.bits_per_sample = static_cast<int>(info.bits_per_sample);
    header_.shape.sample = decoded_sample(header_.bits_per_sample, options.max_bits);
    header_.orientation = static_cast<Orientation>(info.orientation);
    header_.profile = headers.profile.empty() ? "" : profile_name(headers.profile);
    rounds_ = info.uses_original_profile != 0 && info.exponent_bits_per_sample == 0 &&
              is_wide(header_.shape.sample) && header_.bits_per_sample <= 14;
    extra_channels_ = info.num_extra_channels;
    const JxlFrames frames =
        read_jxl_frames(headers.frames,
                        {.width = info.xsize,
                         .height = info.ysize,
                         .extra_channels = extra_channels_,
                         .is_xyb = info.uses_original_profile == 0,
                         .has_animation = info.have_animation != 0,
                         .has_timecodes = info.have_animation != 0 && info.animation.have_timecodes != 0,
                         .preview_width = info.have_preview != 0 ? std::int64_t{info.preview.xsize} : 0,
                         .preview_height = info.have_preview != 0 ? std::int64_t{info.preview.ysize} : 0},
                        options);
    header_.more_images = frames.more_follow;
    frame_pixels_ = frames.pixels;
  }

  [[nodiscard]] std::int64_t working_bytes(bool whole) const override {
    return WholeImageReader::working_bytes(whole) + library_bytes(whole);
  }
  // libjxl holds each frame as floats, and while it decodes one its coefficients or integers (libjxl 0.7,
  // measured).
  [[nodiscard]] std::int64_t library_bytes(bool) const override {
    constexpr std::int64_t kStateBytes = std::int64_t{64} << 20;
    return frame_pixels_ * (36 + 8 * extra_channels_) + kStateBytes;
  }

 protected:
  void decode(HostView whole) override {
    out_ = whole;
    const JxlDecoderOwner decoder = start_jxl(contents_.codestream, JXL_DEC_FULL_IMAGE);
    if (late_jxl::JxlDecoderSetUnpremultiplyAlpha(decoder.get(), JXL_TRUE) != JXL_DEC_SUCCESS)
      fail_parameters();
    if (lenient_) fill_missing(whole);
    JxlDecoderStatus status = late_jxl::JxlDecoderProcessInput(decoder.get());
    if (status == JXL_DEC_NEED_IMAGE_OUT_BUFFER) {
      const JxlPixelFormat format{static_cast<std::uint32_t>(whole.channels),
                                  is_wide(whole.sample) ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN,
                                  0};
      if (late_jxl::JxlDecoderSetImageOutCallback(decoder.get(), &format, take_pixels, this) !=
          JXL_DEC_SUCCESS)
        fail_parameters();
      status = late_jxl::JxlDecoderProcessInput(decoder.get());
    }
    if (status == JXL_DEC_FULL_IMAGE) return;
    check_library_memory(library_bytes(true));
    const bool is_truncated = status == JXL_DEC_NEED_MORE_INPUT;
    const std::string what = is_truncated ? "the file is truncated" : "the image data is damaged";
    // A truncated image may be complete at a lower resolution.
    const bool has_some =
        is_truncated && lenient_ && late_jxl::JxlDecoderFlushImage(decoder.get()) == JXL_DEC_SUCCESS;
    if (!has_some) throw Error(ErrorKind::input, "JPEG XL: " + what);
    damage(what);
  }

 private:
  [[noreturn]] static void fail_parameters() {
    throw Error(ErrorKind::usage, "JPEG XL: libjxl rejected its parameters");
  }

  // Reports the first damage; an error unless lenient.
  void damage(const std::string& what) {
    if (!lenient_) throw Error(ErrorKind::input, "JPEG XL: " + what);
    if (!std::exchange(is_damaged_, true)) warnings_.push_back("damaged JPEG XL: " + what);
  }

  static void take_pixels(void* self, std::size_t x, std::size_t y, std::size_t pixels,
                          const void* data) noexcept {
    const JxlReader& reader = *static_cast<JxlReader*>(self);
    const HostView& out = reader.out_;
    const auto pixel_bytes = static_cast<std::size_t>(Shape{1, 1, out.channels, out.sample}.bytes());
    std::byte* const to = out.row(static_cast<std::int64_t>(y)) + x * pixel_bytes;
    std::memcpy(to, data, pixels * pixel_bytes);
    if (!reader.rounds_) return;
    const std::uint32_t most = (1U << reader.header_.bits_per_sample) - 1;
    constexpr std::uint32_t kMost = 65'535;
    for (Sample16& sample : std::span(reinterpret_cast<Sample16*>(to), pixels * out.channels)) {
      const std::uint32_t value = (sample * most + kMost / 2) / kMost;
      sample = static_cast<Sample16>((value * kMost + most / 2) / most);
    }
  }

  bool lenient_;
  bool is_damaged_ = false;
  JxlContents contents_;
  std::int64_t extra_channels_ = 0, frame_pixels_ = 0;
  // Whether samples of 9 to 14 bits, which libjxl scales to 16 bits by floats, are rounded by the rule of all
  // formats: a sample in 4,096 of 12 bits differs by one.
  bool rounds_ = false;
  HostView out_;
};

}  // namespace

std::unique_ptr<Reader> open_jxl(Bytes file, const DecodeOptions& options) {
  return std::make_unique<JxlReader>(file, options);
}

}  // namespace imgpipe
