// A gray of your own: colour to grey, (19595 R + 38470 G + 7471 B + 32768) >> 16 for every pixel.
//
//   imgpipe bench --stage gray --with THIS_FILE.cu
//
// compiles it, compares it with the reference on images of awkward shapes, and times it alongside the lab's
// variants. A file may have several variants. For their arguments: imgpipe bench --template header
#include "imgpipe_kernel.h"

using Sample = uint8_t;

// One thread per pixel: x along the row, y down the rows. An input pixel is three samples: R, G, B.
__global__ void gray_pixels(const Sample* in, size_t in_pitch, Sample* out, size_t out_pitch, int width,
                            int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  // A grid has at most 65535 rows of blocks, so in taller images a thread takes several rows.
  for (int y = blockIdx.y; y < height; y += gridDim.y) {
    const Sample* rgb = imgpipe_row(in, in_pitch, y) + 3 * size_t(x);
    imgpipe_row(out, out_pitch, y)[x] =
        static_cast<Sample>((19595u * rgb[0] + 38470u * rgb[1] + 7471u * rgb[2] + 32768u) >> 16);
  }
}

IMGPIPE_GRAY(mine, "one thread per pixel, three loads of a byte") {
  const int block = 256;
  const dim3 grid((call.width + block - 1) / block, min(call.height, 65535));
  gray_pixels<<<grid, block, 0, call.stream>>>(call.in, call.in_pitch, call.out, call.out_pitch, call.width,
                                               call.height);
}
