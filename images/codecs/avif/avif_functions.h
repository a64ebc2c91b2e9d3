// The functions of libavif that imgpipe calls.
#pragma once

#include <avif/avif.h>

#include "images/late_library.h"

namespace imgpipe::late_avif {

#ifdef IMGPIPE_AVIF_FILE
inline constinit LateLibrary library{IMGPIPE_AVIF_FILE};
#define IMGPIPE_AVIF(name) IMGPIPE_LATE(library, name)
#else  // a static library
#define IMGPIPE_AVIF(name) using ::name
#endif
IMGPIPE_AVIF(avifCodecVersions);
IMGPIPE_AVIF(avifDecoderCreate);
IMGPIPE_AVIF(avifDecoderDestroy);
IMGPIPE_AVIF(avifDecoderNextImage);
IMGPIPE_AVIF(avifDecoderParse);
IMGPIPE_AVIF(avifDecoderSetIOMemory);
IMGPIPE_AVIF(avifDecoderSetSource);
IMGPIPE_AVIF(avifImageYUVToRGB);
IMGPIPE_AVIF(avifLimitedToFullY);
IMGPIPE_AVIF(avifRGBImageSetDefaults);
IMGPIPE_AVIF(avifResultToString);
IMGPIPE_AVIF(avifVersion);

}  // namespace imgpipe::late_avif
