// The functions of zlib that imgpipe calls. Macros of its header call those that end in "_".
#pragma once

#include <zlib.h>

#include "images/late_library.h"

namespace imgpipe::late_zlib {

#ifdef IMGPIPE_ZLIB_FILE
inline constinit LateLibrary library{IMGPIPE_ZLIB_FILE};
#define IMGPIPE_ZLIB(name) IMGPIPE_LATE(library, name)
#else  // a static library
#define IMGPIPE_ZLIB(name) using ::name
#endif
IMGPIPE_ZLIB(deflate);
IMGPIPE_ZLIB(deflateBound);
IMGPIPE_ZLIB(deflateEnd);
IMGPIPE_ZLIB(deflateInit2_);
IMGPIPE_ZLIB(inflate);
IMGPIPE_ZLIB(inflateEnd);
IMGPIPE_ZLIB(inflateInit2_);
IMGPIPE_ZLIB(inflateInit_);
IMGPIPE_ZLIB(inflateReset);
IMGPIPE_ZLIB(zlibVersion);

}  // namespace imgpipe::late_zlib
