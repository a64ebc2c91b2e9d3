// The functions of libjxl that imgpipe calls.
#pragma once

#include <jxl/decode.h>

#include "images/late_library.h"

namespace imgpipe::late_jxl {

#ifdef IMGPIPE_JXL_FILE
inline constinit LateLibrary library{IMGPIPE_JXL_FILE};
#define IMGPIPE_JXL(name) IMGPIPE_LATE(library, name)
#else  // a static library
#define IMGPIPE_JXL(name) using ::name
#endif
IMGPIPE_JXL(JxlDecoderCreate);
IMGPIPE_JXL(JxlDecoderDestroy);
IMGPIPE_JXL(JxlDecoderFlushImage);
IMGPIPE_JXL(JxlDecoderGetBasicInfo);
IMGPIPE_JXL(JxlDecoderGetBoxType);
IMGPIPE_JXL(JxlDecoderGetColorAsEncodedProfile);
IMGPIPE_JXL(JxlDecoderGetColorAsICCProfile);
IMGPIPE_JXL(JxlDecoderGetExtraChannelInfo);
IMGPIPE_JXL(JxlDecoderGetICCProfileSize);
IMGPIPE_JXL(JxlDecoderProcessInput);
IMGPIPE_JXL(JxlDecoderReleaseBoxBuffer);
IMGPIPE_JXL(JxlDecoderReleaseInput);
IMGPIPE_JXL(JxlDecoderSetBoxBuffer);
IMGPIPE_JXL(JxlDecoderSetDecompressBoxes);
IMGPIPE_JXL(JxlDecoderSetImageOutCallback);
IMGPIPE_JXL(JxlDecoderSetInput);
IMGPIPE_JXL(JxlDecoderSetKeepOrientation);
IMGPIPE_JXL(JxlDecoderSetUnpremultiplyAlpha);
IMGPIPE_JXL(JxlDecoderSubscribeEvents);
IMGPIPE_JXL(JxlDecoderVersion);

}  // namespace imgpipe::late_jxl
