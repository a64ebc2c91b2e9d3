// The functions of libdeflate that imgpipe calls.
#pragma once

#include <libdeflate.h>

#include "images/late_library.h"

namespace imgpipe::late_deflate {

#ifdef IMGPIPE_DEFLATE_FILE
inline constinit LateLibrary library{IMGPIPE_DEFLATE_FILE};
#define IMGPIPE_DEFLATE(name) IMGPIPE_LATE(library, name)
#else  // a static library
#define IMGPIPE_DEFLATE(name) using ::name
#endif
IMGPIPE_DEFLATE(libdeflate_alloc_compressor);
IMGPIPE_DEFLATE(libdeflate_deflate_compress);
IMGPIPE_DEFLATE(libdeflate_free_compressor);

}  // namespace imgpipe::late_deflate
