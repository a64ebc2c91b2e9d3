// A smooth of your own: the mean of the 5x5 window around each pixel, without positions outside the image,
// rounded half up: (2 S + n) / (2 n) for n pixels whose sum is S.
//
//   imgpipe bench --stage smooth --with THIS_FILE.cu
//
// compiles it, compares it with the reference on images of awkward shapes, and times it alongside the lab's
// variants. A file may have several variants. For their arguments: imgpipe bench --template header
#include "imgpipe_kernel.h"

using Sample = uint8_t;
constexpr int kRadius = 2;

// One thread per pixel: x along the row, y down the rows. Each reads its 25 pixels from global memory.
__global__ void mean_of_window(const Sample* in, size_t in_pitch, Sample* out, size_t out_pitch, int width,
                               int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  // A grid has at most 65535 rows of blocks, so in taller images a thread takes several rows.
  for (int y = blockIdx.y; y < height; y += gridDim.y) {
    unsigned sum = 0;
    unsigned n = 0;
    for (int dy = -kRadius; dy <= kRadius; ++dy) {
      for (int dx = -kRadius; dx <= kRadius; ++dx) {
        if (y + dy < 0 || y + dy >= height || x + dx < 0 || x + dx >= width) continue;
        sum += imgpipe_row(in, in_pitch, y + dy)[x + dx];
        ++n;
      }
    }
    imgpipe_row(out, out_pitch, y)[x] = static_cast<Sample>((2 * sum + n) / (2 * n));
  }
}

IMGPIPE_SMOOTH(mine, "one thread per pixel, 25 loads each") {
  const int block = 256;
  const dim3 grid((call.width + block - 1) / block, min(call.height, 65535));
  mean_of_window<<<grid, block, 0, call.stream>>>(call.in, call.in_pitch, call.out, call.out_pitch,
                                                  call.width, call.height);
}
