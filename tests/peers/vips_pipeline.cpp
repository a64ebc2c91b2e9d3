// imgpipe's default stages with libvips in one process, for compare.sh only: grey, histogram, min/max
// stretch, 5x5 mean.
//
//   vips_pipeline IN OUT.png      PNG at level 1
#include <cstdio>
#include <initializer_list>

#include <vips/vips.h>

namespace {

int fail() {
  std::fprintf(stderr, "vips_pipeline: %s", vips_error_buffer());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || VIPS_INIT(argv[0]) != 0) return 2;
  VipsImage* color = vips_image_new_from_file(argv[1], "access", VIPS_ACCESS_SEQUENTIAL, nullptr);
  VipsImage* streamed = nullptr;
  if (color == nullptr || vips_colourspace(color, &streamed, VIPS_INTERPRETATION_B_W, nullptr) != 0)
    return fail();
  VipsImage* grey = vips_image_copy_memory(streamed);  // min and max need all of it before the stretch
  VipsImage* counts = nullptr;
  double low = 0;
  double high = 0;
  if (grey == nullptr || vips_hist_find(grey, &counts, nullptr) != 0 || vips_image_wio_input(counts) != 0 ||
      vips_min(grey, &low, nullptr) != 0 || vips_max(grey, &high, nullptr) != 0)
    return fail();
  const double scale = high > low ? 255 / (high - low) : 1;
  VipsImage* stretched = nullptr;
  if (vips_linear1(grey, &stretched, scale, -low * scale, "uchar", TRUE, nullptr) != 0) return fail();
  VipsImage* window = vips_image_new_matrix(5, 5);
  for (int y = 0; y < 5; ++y) {
    for (int x = 0; x < 5; ++x) *VIPS_MATRIX(window, x, y) = 1;
  }
  vips_image_set_double(window, "scale", 25);
  VipsImage* smoothed = nullptr;
  if (vips_conv(stretched, &smoothed, window, "precision", VIPS_PRECISION_INTEGER, nullptr) != 0 ||
      vips_pngsave(smoothed, argv[2], "compression", 1, nullptr) != 0)
    return fail();
  for (VipsImage* image : {smoothed, window, stretched, counts, grey, streamed, color}) g_object_unref(image);
  vips_shutdown();
  return 0;
}
