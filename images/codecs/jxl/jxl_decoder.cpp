#include "images/codecs/jxl/jxl_decoder.h"

#include <jxl/version.h>

#include "images/codecs/icc.h"
#include "images/codecs/jxl/jxl_functions.h"
#include "images/error.h"

namespace imgpipe {
namespace {

// libjxl 0.9 removed the format from these functions.
#if JPEGXL_MAJOR_VERSION == 0 && JPEGXL_MINOR_VERSION < 9
constexpr JxlPixelFormat kUnused{3, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
#define IMGPIPE_JXL_FORMAT &kUnused,
#else
#define IMGPIPE_JXL_FORMAT
#endif

void check(JxlDecoderStatus status, JxlDecoderStatus expected) {
  if (status == expected) return;
  throw Error(ErrorKind::input, status == JXL_DEC_NEED_MORE_INPUT ? "JPEG XL: the file is truncated"
                                                                  : "JPEG XL: the header is damaged");
}

bool is_srgb(const JxlDecoder& decoder) {
  JxlColorEncoding color{};
  const JxlDecoderStatus status = late_jxl::JxlDecoderGetColorAsEncodedProfile(
      &decoder, IMGPIPE_JXL_FORMAT JXL_COLOR_PROFILE_TARGET_DATA, &color);
  return status == JXL_DEC_SUCCESS && color.transfer_function == JXL_TRANSFER_FUNCTION_SRGB &&
         color.white_point == JXL_WHITE_POINT_D65 &&
         (color.color_space == JXL_COLOR_SPACE_GRAY ||
          (color.color_space == JXL_COLOR_SPACE_RGB && color.primaries == JXL_PRIMARIES_SRGB));
}

std::vector<std::byte> profile_of(const JxlDecoder& decoder) {
  std::size_t size = 0;
  if (is_srgb(decoder) ||
      late_jxl::JxlDecoderGetICCProfileSize(&decoder, IMGPIPE_JXL_FORMAT JXL_COLOR_PROFILE_TARGET_DATA,
                                            &size) != JXL_DEC_SUCCESS ||
      size == 0 || size > kMaxProfileBytes)
    return {};
  std::vector<std::byte> profile(size);
  const JxlDecoderStatus status =
      late_jxl::JxlDecoderGetColorAsICCProfile(&decoder, IMGPIPE_JXL_FORMAT JXL_COLOR_PROFILE_TARGET_DATA,
                                               reinterpret_cast<std::uint8_t*>(profile.data()), size);
  return status == JXL_DEC_SUCCESS ? profile : std::vector<std::byte>();
}

bool has_black_channel(const JxlDecoder& decoder, std::size_t extra_channels) {
  for (std::size_t i = 0; i < extra_channels; ++i) {
    JxlExtraChannelInfo info{};
    if (late_jxl::JxlDecoderGetExtraChannelInfo(&decoder, i, &info) == JXL_DEC_SUCCESS &&
        info.type == JXL_CHANNEL_BLACK)
      return true;
  }
  return false;
}

}  // namespace

JxlDecoderOwner start_jxl(Bytes codestream, int events) {
  JxlDecoderOwner decoder(late_jxl::JxlDecoderCreate(nullptr));
  if (decoder == nullptr) throw Error(ErrorKind::memory, "not enough memory");
  if (late_jxl::JxlDecoderSubscribeEvents(decoder.get(), events) != JXL_DEC_SUCCESS ||
      late_jxl::JxlDecoderSetKeepOrientation(decoder.get(), JXL_TRUE) != JXL_DEC_SUCCESS ||
      late_jxl::JxlDecoderSetInput(decoder.get(), reinterpret_cast<const std::uint8_t*>(codestream.data()),
                                   codestream.size()) != JXL_DEC_SUCCESS)
    throw Error(ErrorKind::usage, "JPEG XL: libjxl rejected its parameters");
  return decoder;
}

JxlHeaders read_jxl_headers(Bytes codestream) {
  const JxlDecoderOwner decoder = start_jxl(codestream, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING);
  check(late_jxl::JxlDecoderProcessInput(decoder.get()), JXL_DEC_BASIC_INFO);
  JxlHeaders headers;
  check(late_jxl::JxlDecoderGetBasicInfo(decoder.get(), &headers.info), JXL_DEC_SUCCESS);
  headers.has_black = has_black_channel(*decoder, headers.info.num_extra_channels);
  check(late_jxl::JxlDecoderProcessInput(decoder.get()), JXL_DEC_COLOR_ENCODING);
  headers.profile = profile_of(*decoder);
  headers.frames = codestream.last(late_jxl::JxlDecoderReleaseInput(decoder.get()));
  return headers;
}

}  // namespace imgpipe
