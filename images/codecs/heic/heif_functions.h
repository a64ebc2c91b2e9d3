// The functions of libheif that imgpipe calls.
#pragma once

#include <libheif/heif.h>

#include "images/late_library.h"

namespace imgpipe::late_heif {

#ifdef IMGPIPE_HEIF_FILE
inline constinit LateLibrary library{IMGPIPE_HEIF_FILE};
#define IMGPIPE_HEIF(name) IMGPIPE_LATE(library, name)
#else  // a static library
#define IMGPIPE_HEIF(name) using ::name
#endif
IMGPIPE_HEIF(heif_context_alloc);
IMGPIPE_HEIF(heif_context_free);
IMGPIPE_HEIF(heif_context_get_primary_image_handle);
IMGPIPE_HEIF(heif_context_read_from_memory_without_copy);
IMGPIPE_HEIF(heif_context_set_max_decoding_threads);
IMGPIPE_HEIF(heif_decode_image);
IMGPIPE_HEIF(heif_decoding_options_alloc);
IMGPIPE_HEIF(heif_decoding_options_free);
IMGPIPE_HEIF(heif_get_version);
IMGPIPE_HEIF(heif_image_get_bits_per_pixel_range);
IMGPIPE_HEIF(heif_image_get_height);
IMGPIPE_HEIF(heif_image_get_plane_readonly);
IMGPIPE_HEIF(heif_image_get_width);
IMGPIPE_HEIF(heif_image_handle_get_ispe_height);
IMGPIPE_HEIF(heif_image_handle_get_ispe_width);
IMGPIPE_HEIF(heif_image_handle_get_luma_bits_per_pixel);
IMGPIPE_HEIF(heif_image_handle_has_alpha_channel);
IMGPIPE_HEIF(heif_image_handle_is_premultiplied_alpha);
IMGPIPE_HEIF(heif_image_handle_release);
IMGPIPE_HEIF(heif_image_release);

}  // namespace imgpipe::late_heif
