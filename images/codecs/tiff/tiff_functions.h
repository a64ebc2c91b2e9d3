// The functions of libtiff that imgpipe calls.
#pragma once

#include <tiffio.h>

#include "images/late_library.h"

namespace imgpipe::late_tiff {

#ifdef IMGPIPE_TIFF_FILE
inline constinit LateLibrary library{IMGPIPE_TIFF_FILE};
#define IMGPIPE_TIFF(name) IMGPIPE_LATE(library, name)
#else  // a static library
#define IMGPIPE_TIFF(name) using ::name
#endif
IMGPIPE_TIFF(TIFFClientOpenExt);
IMGPIPE_TIFF(TIFFClose);
IMGPIPE_TIFF(TIFFGetStrileByteCount);
IMGPIPE_TIFF(TIFFGetStrileOffset);
IMGPIPE_TIFF(TIFFGetVersion);
IMGPIPE_TIFF(TIFFOpenOptionsAlloc);
IMGPIPE_TIFF(TIFFOpenOptionsFree);
IMGPIPE_TIFF(TIFFOpenOptionsSetErrorHandlerExtR);
IMGPIPE_TIFF(TIFFOpenOptionsSetWarningHandlerExtR);
IMGPIPE_TIFF(TIFFReadFromUserBuffer);
IMGPIPE_TIFF(TIFFSetField);
IMGPIPE_TIFF(TIFFStripSize64);
IMGPIPE_TIFF(TIFFWriteBufferSetup);
IMGPIPE_TIFF(TIFFWriteEncodedStrip);

}  // namespace imgpipe::late_tiff
