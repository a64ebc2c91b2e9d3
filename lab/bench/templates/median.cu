// A median of your own: the middle value of the window around each pixel. Pixels beyond the border have the
// value of the nearest pixel of the image.
//
//   imgpipe bench --stage median --with THIS_FILE.cu
//
// compiles it, compares it with the reference on images of awkward shapes, and times it alongside the lab's
// variants. A file may have several variants. For their arguments: imgpipe bench --template header
#include "imgpipe_kernel.h"

using Sample = uint8_t;
constexpr int kRadius = 1;
constexpr int kWindow = (2 * kRadius + 1) * (2 * kRadius + 1);

// One thread per pixel: x along the row, y down the rows. Each sorts its window by insertion.
__global__ void median_of_window(const Sample* in, size_t in_pitch, Sample* out, size_t out_pitch, int width,
                                 int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  // A grid has at most 65535 rows of blocks, so in taller images a thread takes several rows.
  for (int y = blockIdx.y; y < height; y += gridDim.y) {
    Sample sorted[kWindow];
    int count = 0;
    for (int dy = -kRadius; dy <= kRadius; ++dy) {
      const Sample* row = imgpipe_row(in, in_pitch, min(max(y + dy, 0), height - 1));
      for (int dx = -kRadius; dx <= kRadius; ++dx) {
        const Sample v = row[min(max(x + dx, 0), width - 1)];
        int at = count++;
        for (; at > 0 && sorted[at - 1] > v; --at) sorted[at] = sorted[at - 1];
        sorted[at] = v;
      }
    }
    imgpipe_row(out, out_pitch, y)[x] = sorted[kWindow / 2];
  }
}

IMGPIPE_MEDIAN(mine, "one thread per pixel sorts its window by insertion") {
  const int block = 256;
  const dim3 grid((call.width + block - 1) / block, min(call.height, 65535));
  median_of_window<<<grid, block, 0, call.stream>>>(call.in, call.in_pitch, call.out, call.out_pitch,
                                                    call.width, call.height);
}
