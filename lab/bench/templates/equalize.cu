// An equalize of your own: maps each value v to the share of pixels whose value is at most v. Let m be the
// least value that occurs, `sum` the number of pixels with values above m and up to v, and `others` the
// number of pixels above m. Then v becomes round(sum * (255.0f / others)) in floats; each operation is
// rounded, halves to even. Values up to m become 0. An image with only one value does not change.
//
//   imgpipe bench --stage equalize --with THIS_FILE.cu
//
// compiles it, compares it with the reference on images of awkward shapes, and times it alongside the lab's
// variants. A file may have several variants. For their arguments: imgpipe bench --template header
#include "imgpipe_kernel.h"

using Sample = uint8_t;
constexpr int kBins = 256;  // values of a sample

// One thread makes the table of results for all values.
__global__ void make_table(const unsigned long long* counts, Sample* table) {
  unsigned long long pixels = 0;
  for (int v = 0; v < kBins; ++v) pixels += counts[v];
  int least = 0;
  while (least < kBins - 1 && counts[least] == 0) ++least;
  const unsigned long long others = pixels - counts[least];
  // __fdiv_rn and __fmul_rn round each operation, regardless of -use_fast_math and fused additions.
  const float scale =
      others == 0 ? 0.0f : __fdiv_rn(static_cast<float>(kBins - 1), static_cast<float>(others));
  unsigned long long sum = 0;
  for (int v = 0; v < kBins; ++v) {
    if (v > least) sum += counts[v];
    const int equal = __float2int_rn(__fmul_rn(static_cast<float>(sum), scale));
    table[v] = static_cast<Sample>(others == 0 ? v : min(equal, kBins - 1));
  }
}

// One thread per pixel: x along the row, y down the rows.
__global__ void map_pixels(const Sample* in, size_t in_pitch, Sample* out, size_t out_pitch, int width,
                           int height, const Sample* table) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  // A grid has at most 65535 rows of blocks, so in taller images a thread takes several rows.
  for (int y = blockIdx.y; y < height; y += gridDim.y)
    imgpipe_row(out, out_pitch, y)[x] = table[imgpipe_row(in, in_pitch, y)[x]];
}

// Bytes of call.scratch that the variant needs: the table.
IMGPIPE_SCRATCH(equalize, mine) {
  return kBins * sizeof(Sample);
}

IMGPIPE_EQUALIZE(mine, "one thread makes the table, then one thread per pixel looks up") {
  Sample* table = static_cast<Sample*>(call.scratch);
  make_table<<<1, 1, 0, call.stream>>>(call.counts, table);
  const int block = 256;
  const dim3 grid((call.width + block - 1) / block, min(call.height, 65535));
  map_pixels<<<grid, block, 0, call.stream>>>(call.in, call.in_pitch, call.out, call.out_pitch, call.width,
                                              call.height, table);
}
