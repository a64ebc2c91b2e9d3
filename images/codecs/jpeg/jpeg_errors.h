// Error handling for libjpeg. Only files that call libjpeg include this header.
//
// libjpeg reports errors by calling error_exit, which jumps back into the function that called the library.
// Such a function begins with `if (setjmp(errors.jump) != 0) return false;` and must hold nothing with a
// destructor.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdio>

#include <jpeglib.h>
// After jpeglib.h: message numbers depend on its version, and libjpeg refuses callers built with another.
#include <jerror.h>

namespace imgpipe {

struct JpegErrors {
  jpeg_error_mgr base;  // first: libjpeg hands back a pointer to it
  std::jmp_buf jump;
  bool strict;                          // warnings are errors
  bool no_memory;                       // the failure was a lack of memory
  char message[JMSG_LENGTH_MAX];        // libjpeg's message for the failure
  char first_warning[JMSG_LENGTH_MAX];  // the first one ignored; base.num_warnings counts all
};

[[nodiscard]] inline JpegErrors& errors_of(j_common_ptr info) {
  return *reinterpret_cast<JpegErrors*>(info->err);
}

[[noreturn]] inline void jump_out(j_common_ptr info) {
  std::longjmp(errors_of(info).jump, 1);
}

[[noreturn]] inline void on_jpeg_error(j_common_ptr info) {
  JpegErrors& errors = errors_of(info);
  info->err->format_message(info, errors.message);
  errors.no_memory = info->err->msg_code == JERR_OUT_OF_MEMORY;
  jump_out(info);
}

inline void on_jpeg_message(j_common_ptr info, int level) {
  if (level >= 0) return;  // a trace message
  JpegErrors& errors = errors_of(info);
  if (errors.strict) on_jpeg_error(info);
  if (info->err->num_warnings++ == 0) info->err->format_message(info, errors.first_warning);
}

// Returns the `err` of a jpeg_compress_struct or jpeg_decompress_struct.
[[nodiscard]] inline jpeg_error_mgr* error_manager(JpegErrors& errors) {
  jpeg_std_error(&errors.base);
  errors.base.error_exit = on_jpeg_error;
  errors.base.emit_message = on_jpeg_message;
  return &errors.base;
}

}  // namespace imgpipe
