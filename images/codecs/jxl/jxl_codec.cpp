#include "images/codecs/jxl/jxl_codec.h"

#include "images/codecs/jxl/jxl_decoder.h"
#include "images/codecs/jxl/jxl_functions.h"
#include "images/late_library.h"

namespace imgpipe {
namespace {

// Counts the displayed frames, which libjxl skips without decoding them.
std::int64_t frames_of(Bytes codestream) {
  const JxlDecoderOwner decoder = start_jxl(codestream, JXL_DEC_FRAME);
  std::int64_t frames = 0;
  while (late_jxl::JxlDecoderProcessInput(decoder.get()) == JXL_DEC_FRAME) ++frames;
  return frames;
}

}  // namespace

FileClaim jxl_claim(Bytes beginning) {
  FileClaim claim{.other_bytes = kEndless};
  const JxlContents contents = read_jxl_contents(beginning);
  const JxlDecoderOwner decoder = start_jxl(contents.codestream, JXL_DEC_BASIC_INFO);
  JxlBasicInfo info{};
  if (late_jxl::JxlDecoderProcessInput(decoder.get()) == JXL_DEC_BASIC_INFO &&
      late_jxl::JxlDecoderGetBasicInfo(decoder.get(), &info) == JXL_DEC_SUCCESS) {
    claim.width = info.xsize;
    claim.height = info.ysize;
  }
  return claim;
}

FileDetails describe_jxl(Bytes file) {
  const JxlContents contents = read_jxl_contents(file);
  const JxlHeaders headers = read_jxl_headers(contents.codestream);
  FileDetails details{.decoder = "libjxl"};
  details.color = headers.info.num_color_channels == 1      ? "grey"
                  : headers.info.uses_original_profile != 0 ? "RGB"
                                                            : "XYB";
  details.channels = static_cast<int>(headers.info.num_color_channels + headers.info.num_extra_channels);
  if (headers.info.uses_original_profile == 0) details.compression = "lossy";
  details.variant = contents.has_boxes ? "container" : "codestream";
  details.images = std::max<std::int64_t>(1, frames_of(contents.codestream));
  return details;
}

std::vector<std::string> jxl_libraries() {
  return {library_version("libjxl", [] {
    const std::uint32_t version = late_jxl::JxlDecoderVersion();
    return std::to_string(version / 1'000'000) + "." + std::to_string(version / 1000 % 1000) + "." +
           std::to_string(version % 1000);
  })};
}

}  // namespace imgpipe
