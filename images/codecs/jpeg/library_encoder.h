// libjpeg-turbo's parameters for the JPEGs that this program writes. Only files that call libjpeg include
// this header.
#pragma once

#include "images/codecs/jpeg/jpeg_errors.h"
#include "images/plane.h"

namespace imgpipe {

// Up to this quality the colour planes have half the width and height. stb_image_write does the same.
inline constexpr int kMaxSubsampledQuality = 90;

[[nodiscard]] constexpr bool subsamples_chroma(int channels, int quality) {
  return channels == 3 && quality <= kMaxSubsampledQuality;
}

// Call within setjmp(), after jpeg_create_compress().
inline void set_parameters(jpeg_compress_struct& encoder, const Shape& shape, int quality) {
  encoder.image_width = static_cast<JDIMENSION>(shape.width);
  encoder.image_height = static_cast<JDIMENSION>(shape.height);
  encoder.input_components = shape.channels;
  encoder.in_color_space = shape.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&encoder);  // halves both sides of the colour planes
  jpeg_set_quality(&encoder, quality, TRUE);
  encoder.dct_method = JDCT_ISLOW;
  if (shape.channels == 3 && !subsamples_chroma(shape.channels, quality)) {
    encoder.comp_info[0].h_samp_factor = 1;
    encoder.comp_info[0].v_samp_factor = 1;
  }
}

// Passes rows to the library. Call within setjmp(), after jpeg_start_compress().
inline void write_scanlines(jpeg_compress_struct& encoder, ConstHostPlane rows) {
  for (std::int64_t y = 0; y < rows.height; ++y) {
    // The library takes a pointer to non-const but does not write through it.
    auto* row = const_cast<JSAMPLE*>(rows.row(y));
    jpeg_write_scanlines(&encoder, &row, 1);
  }
}

}  // namespace imgpipe
