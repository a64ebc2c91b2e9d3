// What libjpeg's errors mean. For the files that call it alone.
#pragma once

#include <cstddef>
#include <cstdio>

#include <jpeglib.h>
// Behind jpeglib.h: which number a message has depends on the version that that is of, and libjpeg refuses
// callers that were built with another one.
#include <jerror.h>

namespace imgpipe {

// Whether the error that it called error_exit for was that it got no memory.
[[nodiscard]] inline bool is_out_of_memory(const jpeg_error_mgr& errors) {
  return errors.msg_code == JERR_OUT_OF_MEMORY;
}

}  // namespace imgpipe
