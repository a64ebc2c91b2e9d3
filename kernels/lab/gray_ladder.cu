// The CUDA rungs of gray, oldest first; gray_ladder.cpp tells their story.
#include "kernels/lab/gray_ladder.h"
#include "kernels/lab/ladder.cuh"

namespace imgpipe {
namespace {

// A thread a pixel; threadIdx.x runs down a column, so the 32 lanes of a warp read from 32 rows.
__global__ __launch_bounds__(kMostBlockThreads) void naive_kernel(Source in, Target out,
                                                                  LumaWeights weights) {
  const std::int64_t y = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (y >= in.height) return;
  for (std::int64_t x = blockIdx.y; x < in.width; x += gridDim.y) {
    const Sample* pixel = in.row(y) + 3 * x;
    out.row(y)[x] = luma_of(weights, pixel[0], pixel[1], pixel[2]);
  }
}

// A thread a pixel; threadIdx.x runs along a row, so a warp reads 96 neighbouring bytes and writes 32.
__global__ __launch_bounds__(kMostBlockThreads) void coalesced_kernel(Source in, Target out,
                                                                      LumaWeights weights) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (x >= in.width) return;
  for (std::int64_t y = blockIdx.y; y < in.height; y += gridDim.y) {
    const Sample* pixel = in.row(y) + 3 * x;
    out.row(y)[x] = luma_of(weights, pixel[0], pixel[1], pixel[2]);
  }
}

// The luma of pixels 4i..4i+3 of Words words of interleaved RGB, packed.
template <int Words>
__device__ __forceinline__ std::uint32_t four_lumas(const std::uint32_t (&words)[Words], int i,
                                                    const LumaWeights& weights) {
  std::uint32_t packed = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int at = 12 * i + 3 * k;
    packed |= std::uint32_t{luma_of(weights, static_cast<Sample>(byte_of(words, at)),
                                    static_cast<Sample>(byte_of(words, at + 1)),
                                    static_cast<Sample>(byte_of(words, at + 2)))}
              << (8 * k);
  }
  return packed;
}

// A thread 4 neighbouring pixels: 3 loads and one store of 4 bytes.
__global__ __launch_bounds__(kMostBlockThreads) void words_kernel(Source in, Target out,
                                                                  LumaWeights weights) {
  for (auto at = grid_stride<4>(in); at.inside(); at.next()) {
    const Sample* from = in.row(at.y()) + 3 * at.x();
    const std::uint32_t words[3] = {load_word(from), load_word(from + 4), load_word(from + 8)};
    store_word(out.row(at.y()) + at.x(), four_lumas(words, 0, weights), at.left());
  }
}

// A thread 16 neighbouring pixels: 3 loads and one store of 16 bytes.
__global__ __launch_bounds__(kMostBlockThreads) void vectors_kernel(Source in, Target out,
                                                                    LumaWeights weights) {
  for (auto at = grid_stride<16>(in); at.inside(); at.next()) {
    const Sample* from = in.row(at.y()) + 3 * at.x();
    std::uint32_t words[12];
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      const uint4 vector = load_vector(from + 16 * i);
      words[4 * i] = vector.x;
      words[4 * i + 1] = vector.y;
      words[4 * i + 2] = vector.z;
      words[4 * i + 3] = vector.w;
    }
    const std::uint32_t grey[4] = {four_lumas(words, 0, weights), four_lumas(words, 1, weights),
                                   four_lumas(words, 2, weights), four_lumas(words, 3, weights)};
    store_vector(out.row(at.y()) + at.x(), grey, at.left());
  }
}

}  // namespace

CudaStatus gray_naive(const StageCall<Device>& call, const RungLaunch& launch) {
  const unsigned block = block_of(launch, kBlock);
  naive_kernel<<<column_grid(call.in.type, block), block, 0, launch.stream>>>(
      call.in.plane<Sample>(0), call.out.plane<Sample>(0),
      luma_weights(GrayParameters(call.parameters).luma));
  return cudaGetLastError();
}

CudaStatus gray_coalesced(const StageCall<Device>& call, const RungLaunch& launch) {
  const unsigned block = block_of(launch, kBlock);
  coalesced_kernel<<<covering_grid(call.in.type, 1, block), block, 0, launch.stream>>>(
      call.in.plane<Sample>(0), call.out.plane<Sample>(0),
      luma_weights(GrayParameters(call.parameters).luma));
  return cudaGetLastError();
}

CudaStatus gray_words(const StageCall<Device>& call, const RungLaunch& launch) {
  words_kernel<<<striding_blocks(launch, kResident), block_of(launch, kBlock), 0, launch.stream>>>(
      call.in.plane<Sample>(0), call.out.plane<Sample>(0),
      luma_weights(GrayParameters(call.parameters).luma));
  return cudaGetLastError();
}

CudaStatus gray_vectors(const StageCall<Device>& call, const RungLaunch& launch) {
  vectors_kernel<<<striding_blocks(launch, kResident), block_of(launch, kBlock), 0, launch.stream>>>(
      call.in.plane<Sample>(0), call.out.plane<Sample>(0),
      luma_weights(GrayParameters(call.parameters).luma));
  return cudaGetLastError();
}

}  // namespace imgpipe
