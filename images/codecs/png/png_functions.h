// The functions of libpng that imgpipe calls. The macro png_jmpbuf() calls png_set_longjmp_fn().
#pragma once

#include <png.h>

#include "images/late_library.h"

namespace imgpipe::late_png {

#ifdef IMGPIPE_PNG_FILE
inline constinit LateLibrary library{IMGPIPE_PNG_FILE};
#define IMGPIPE_PNG(name) IMGPIPE_LATE(library, name)
#else  // a static library
#define IMGPIPE_PNG(name) using ::name
#endif
IMGPIPE_PNG(png_create_info_struct);
IMGPIPE_PNG(png_create_read_struct_2);
IMGPIPE_PNG(png_destroy_read_struct);
IMGPIPE_PNG(png_error);
IMGPIPE_PNG(png_get_bit_depth);
IMGPIPE_PNG(png_get_channels);
IMGPIPE_PNG(png_get_color_type);
IMGPIPE_PNG(png_get_error_ptr);
IMGPIPE_PNG(png_get_image_height);
IMGPIPE_PNG(png_get_image_width);
IMGPIPE_PNG(png_get_interlace_type);
IMGPIPE_PNG(png_get_io_ptr);
IMGPIPE_PNG(png_get_libpng_ver);
IMGPIPE_PNG(png_get_mem_ptr);
IMGPIPE_PNG(png_get_valid);
IMGPIPE_PNG(png_longjmp);
IMGPIPE_PNG(png_read_end);
IMGPIPE_PNG(png_read_info);
IMGPIPE_PNG(png_read_row);
IMGPIPE_PNG(png_read_update_info);
IMGPIPE_PNG(png_set_chunk_malloc_max);
IMGPIPE_PNG(png_set_expand);
IMGPIPE_PNG(png_set_interlace_handling);
IMGPIPE_PNG(png_set_keep_unknown_chunks);
IMGPIPE_PNG(png_set_longjmp_fn);
IMGPIPE_PNG(png_set_option);
IMGPIPE_PNG(png_set_read_fn);
IMGPIPE_PNG(png_set_read_user_transform_fn);
IMGPIPE_PNG(png_set_scale_16);
IMGPIPE_PNG(png_set_swap);
IMGPIPE_PNG(png_set_user_limits);

}  // namespace imgpipe::late_png
