// Grids of lcms2. The library computes in floats and rounds each result to 16 bits once.
#ifdef IMGPIPE_WITH_LCMS2
#include <lcms2.h>
#endif

#include <memory>

#include "images/codecs/icc.h"
#include "images/codecs/icc_transform.h"
#include "images/error.h"
#include "images/late_library.h"

namespace imgpipe {

#ifdef IMGPIPE_WITH_LCMS2

namespace {

#ifdef IMGPIPE_LCMS2_FILE
constinit LateLibrary library{IMGPIPE_LCMS2_FILE};
#define IMGPIPE_LCMS2(name) IMGPIPE_LATE(library, name)
#else  // a static library
#define IMGPIPE_LCMS2(name) using ::name
#endif
IMGPIPE_LCMS2(cmsCloseProfile);
IMGPIPE_LCMS2(cmsCreateContext);
IMGPIPE_LCMS2(cmsCreateTransformTHR);
IMGPIPE_LCMS2(cmsCreate_sRGBProfileTHR);
IMGPIPE_LCMS2(cmsDeleteContext);
IMGPIPE_LCMS2(cmsDeleteTransform);
IMGPIPE_LCMS2(cmsDoTransform);
IMGPIPE_LCMS2(cmsOpenProfileFromMemTHR);
IMGPIPE_LCMS2(cmsSetLogErrorHandlerTHR);

using Context = std::unique_ptr<std::remove_pointer_t<cmsContext>, decltype(cmsDeleteContext)&>;
using Profile = std::unique_ptr<void, decltype(cmsCloseProfile)&>;
using Transform = std::unique_ptr<void, decltype(cmsDeleteTransform)&>;

void ignore_message(cmsContext, cmsUInt32Number, const char*) {}

}  // namespace

std::vector<std::uint16_t> srgb_grid(std::span<const std::byte> profile, RenderingIntent intent, int points) {
  const int channels = profile_channels(profile);
  const Context context(cmsCreateContext(nullptr, nullptr), cmsDeleteContext);
  if (!context) throw Error(ErrorKind::memory, "not enough memory");
  cmsSetLogErrorHandlerTHR(context.get(), ignore_message);
  const Profile from(
      cmsOpenProfileFromMemTHR(context.get(), profile.data(), static_cast<cmsUInt32Number>(profile.size())),
      cmsCloseProfile);
  const Profile to(cmsCreate_sRGBProfileTHR(context.get()), cmsCloseProfile);
  Transform transform(nullptr, cmsDeleteTransform);
  if (from && to) {
    const cmsUInt32Number compensation =
        intent == RenderingIntent::relative ? cmsFLAGS_BLACKPOINTCOMPENSATION : 0;
    transform.reset(cmsCreateTransformTHR(
        context.get(), from.get(), channels == 4 ? TYPE_CMYK_16 : TYPE_RGB_16, to.get(), TYPE_RGB_16,
        static_cast<cmsUInt32Number>(intent), cmsFLAGS_NOOPTIMIZE | cmsFLAGS_NOCACHE | compensation));
  }
  if (!transform) throw Error(ErrorKind::input, "lcms2 rejects it");
  // Rows of the grid along the last channel.
  const auto side = static_cast<std::uint32_t>(points);
  std::uint32_t rows = 1;
  for (int c = 1; c < channels; ++c) rows *= side;
  std::vector<std::uint16_t> grid(std::size_t{rows} * side * 3);
  std::vector<std::uint16_t> in(side * static_cast<std::size_t>(channels));
  const auto node = [&](std::uint32_t i) {
    return static_cast<std::uint16_t>((i * 65535 + (side - 1) / 2) / (side - 1));
  };
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t i = 0; i < side; ++i) {
      std::uint32_t rest = row;
      std::uint16_t* const pixel = &in[i * static_cast<std::size_t>(channels)];
      pixel[channels - 1] = node(i);
      for (int c = channels - 2; c >= 0; --c, rest /= side) pixel[c] = node(rest % side);
    }
    cmsDoTransform(transform.get(), in.data(), &grid[std::size_t{row} * side * 3], side);
  }
  return grid;
}

std::string lcms_version() {
  return "lcms2 " + std::to_string(LCMS_VERSION / 1000) + "." + std::to_string(LCMS_VERSION % 1000 / 10);
}

#else

std::vector<std::uint16_t> srgb_grid(std::span<const std::byte>, RenderingIntent, int) {
  throw Error(ErrorKind::usage, "it has tables, which need a build with lcms2");
}

std::string lcms_version() {
  return "";
}

#endif

}  // namespace imgpipe
