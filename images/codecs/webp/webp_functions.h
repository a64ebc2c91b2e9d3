// The functions of libwebp that imgpipe calls. Those that end in "Internal" are called by inline functions of
// its headers.
#pragma once

#include <webp/decode.h>
#include <webp/encode.h>

#include "images/late_library.h"

namespace imgpipe::late_webp {

#ifdef IMGPIPE_WEBP_FILE
inline constinit LateLibrary library{IMGPIPE_WEBP_FILE};
#define IMGPIPE_WEBP(name) IMGPIPE_LATE(library, name)
#else  // a static library
#define IMGPIPE_WEBP(name) using ::name
#endif
IMGPIPE_WEBP(WebPConfigInitInternal);
IMGPIPE_WEBP(WebPConfigLosslessPreset);
IMGPIPE_WEBP(WebPDecode);
IMGPIPE_WEBP(WebPEncode);
IMGPIPE_WEBP(WebPGetDecoderVersion);
IMGPIPE_WEBP(WebPIDecGetRGB);
IMGPIPE_WEBP(WebPIDecode);
IMGPIPE_WEBP(WebPIDelete);
IMGPIPE_WEBP(WebPIUpdate);
IMGPIPE_WEBP(WebPInitDecoderConfigInternal);
IMGPIPE_WEBP(WebPPictureAlloc);
IMGPIPE_WEBP(WebPPictureFree);
IMGPIPE_WEBP(WebPPictureInitInternal);
IMGPIPE_WEBP(WebPValidateConfig);

}  // namespace imgpipe::late_webp
