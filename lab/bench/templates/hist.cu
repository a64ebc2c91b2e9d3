// A hist of your own: how often every value occurs in a grey image.
//
//   imgpipe bench --stage hist --with THIS_FILE.cu
//
// compiles it, compares it with the reference on images of awkward shapes, and times it alongside the lab's
// variants. A file may have several variants. For their arguments: imgpipe bench --template header
#include "imgpipe_kernel.h"

using Sample = uint8_t;
constexpr int kBins = 256;  // values of a sample

// One thread per pixel: x along the row, y down the rows.
__global__ void count_pixels(const Sample* in, size_t in_pitch, int width, int height,
                             unsigned long long* counts) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  // A grid has at most 65535 rows of blocks, so in taller images a thread takes several rows.
  for (int y = blockIdx.y; y < height; y += gridDim.y) {
    // Threads that need the same counter wait for each other: improve this first.
    atomicAdd(&counts[imgpipe_row(in, in_pitch, y)[x]], 1ull);
  }
}

IMGPIPE_HIST(mine, "one thread per pixel, counters in global memory") {
  // The counters hold garbage.
  cudaMemsetAsync(call.counts, 0, kBins * sizeof(*call.counts), call.stream);
  const int block = 256;
  const dim3 grid((call.width + block - 1) / block, min(call.height, 65535));
  count_pixels<<<grid, block, 0, call.stream>>>(call.in, call.in_pitch, call.width, call.height, call.counts);
}
