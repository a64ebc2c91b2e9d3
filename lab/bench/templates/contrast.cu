// A contrast of your own: spreads the values between lo and hi, the least and the greatest that occur:
// v <= lo: 0; v >= hi: the largest value L; else ((v - lo) * 2L + (hi - lo)) / (2 (hi - lo)), all in
// integers. An image with only one value does not change.
//
//   imgpipe bench --stage contrast --with THIS_FILE.cu
//
// compiles it, compares it with the reference on images of awkward shapes, and times it alongside the lab's
// variants. A file may have several variants. For their arguments: imgpipe bench --template header
#include "imgpipe_kernel.h"

using Sample = uint8_t;
constexpr int kBins = 256;  // values of a sample

// One thread finds the least and the greatest value that occurs: range[0], range[1].
__global__ void find_range(const unsigned long long* counts, int* range) {
  int lo = 0;
  int hi = kBins - 1;
  while (lo < hi && counts[lo] == 0) ++lo;
  while (hi > lo && counts[hi] == 0) --hi;
  range[0] = lo;
  range[1] = hi;
}

// One thread per pixel: x along the row, y down the rows.
__global__ void stretch_pixels(const Sample* in, size_t in_pitch, Sample* out, size_t out_pitch, int width,
                               int height, const int* range) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  const long long most = kBins - 1;
  const long long lo = range[0];
  const long long hi = range[1];
  // A grid has at most 65535 rows of blocks, so in taller images a thread takes several rows.
  for (int y = blockIdx.y; y < height; y += gridDim.y) {
    const long long v = imgpipe_row(in, in_pitch, y)[x];
    const long long stretched = hi <= lo ? v : ((v - lo) * 2 * most + (hi - lo)) / (2 * (hi - lo));
    imgpipe_row(out, out_pitch, y)[x] = static_cast<Sample>(stretched);
  }
}

// Bytes of call.scratch that the variant needs: the two ends of the range.
IMGPIPE_SCRATCH(contrast, mine) {
  return 2 * sizeof(int);
}

IMGPIPE_CONTRAST(mine, "one thread finds lo and hi, then one thread per pixel divides") {
  int* range = static_cast<int*>(call.scratch);
  find_range<<<1, 1, 0, call.stream>>>(call.counts, range);
  const int block = 256;
  const dim3 grid((call.width + block - 1) / block, min(call.height, 65535));
  stretch_pixels<<<grid, block, 0, call.stream>>>(call.in, call.in_pitch, call.out, call.out_pitch,
                                                  call.width, call.height, range);
}
