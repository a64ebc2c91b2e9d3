// The functions of libzstd that imgpipe calls.
#pragma once

#include <zstd.h>

#include "images/late_library.h"

namespace imgpipe::late_zstd {

#ifdef IMGPIPE_ZSTD_FILE
inline constinit LateLibrary library{IMGPIPE_ZSTD_FILE};
#define IMGPIPE_ZSTD(name) IMGPIPE_LATE(library, name)
#else  // a static library
#define IMGPIPE_ZSTD(name) using ::name
#endif
IMGPIPE_ZSTD(ZSTD_compressBound);
IMGPIPE_ZSTD(ZSTD_compressCCtx);
IMGPIPE_ZSTD(ZSTD_createCCtx);
IMGPIPE_ZSTD(ZSTD_createDCtx);
IMGPIPE_ZSTD(ZSTD_decompressDCtx);
IMGPIPE_ZSTD(ZSTD_freeCCtx);
IMGPIPE_ZSTD(ZSTD_freeDCtx);
IMGPIPE_ZSTD(ZSTD_getErrorName);
IMGPIPE_ZSTD(ZSTD_isError);
IMGPIPE_ZSTD(ZSTD_versionString);

}  // namespace imgpipe::late_zstd
