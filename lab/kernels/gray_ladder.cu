// The CUDA rungs of gray, oldest first; gray_ladder.cpp tells their story.
#include "lab/kernels/gray_ladder.h"
#include "lab/kernels/ladder.cuh"

namespace imgpipe {
namespace {

// A thread a pixel; threadIdx.x runs down a column, so the 32 lanes of a warp read from 32 rows.
template <class T>
__global__ __launch_bounds__(kMostBlockThreads) void naive_kernel(SourceOf<T> in, TargetOf<T> out,
                                                                  LumaWeights weights) {
  const std::int64_t y = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (y >= in.height) return;
  for (std::int64_t x = blockIdx.y; x < in.width; x += gridDim.y) {
    const T* pixel = in.row(y) + 3 * x;
    out.row(y)[x] = luma_of<T>(weights, pixel[0], pixel[1], pixel[2]);
  }
}

// A thread a pixel; threadIdx.x runs along a row, so a warp reads 96 neighbouring samples and writes 32.
template <class T>
__global__ __launch_bounds__(kMostBlockThreads) void coalesced_kernel(SourceOf<T> in, TargetOf<T> out,
                                                                      LumaWeights weights) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (x >= in.width) return;
  for (std::int64_t y = blockIdx.y; y < in.height; y += gridDim.y) {
    const T* pixel = in.row(y) + 3 * x;
    out.row(y)[x] = luma_of<T>(weights, pixel[0], pixel[1], pixel[2]);
  }
}

// Word i of the lumas of Words words of interleaved RGB.
template <class T, int Words>
__device__ __forceinline__ std::uint32_t luma_word(const std::uint32_t (&words)[Words], int i,
                                                   const LumaWeights& weights) {
  std::uint32_t packed = 0;
#pragma unroll
  for (int k = 0; k < kWordSamples<T>; ++k) {
    const int at = 3 * (kWordSamples<T> * i + k);
    packed |= std::uint32_t{luma_of<T>(weights, static_cast<T>(sample_of<T>(words, at)),
                                       static_cast<T>(sample_of<T>(words, at + 1)),
                                       static_cast<T>(sample_of<T>(words, at + 2)))}
              << (8 * static_cast<int>(sizeof(T)) * k);
  }
  return packed;
}

// A thread as many neighbouring pixels as a word has samples: 3 loads and one store of 4 bytes.
template <class T>
__global__ __launch_bounds__(kMostBlockThreads) void words_kernel(SourceOf<T> in, TargetOf<T> out,
                                                                  LumaWeights weights) {
  constexpr int kEach = kWordSamples<T>;
  for (auto at = grid_stride<kEach>(in); at.inside(); at.next()) {
    const T* from = in.row(at.y()) + 3 * at.x();
    const std::uint32_t words[3] = {load_word(from), load_word(from + kEach), load_word(from + 2 * kEach)};
    store_word(out.row(at.y()) + at.x(), luma_word<T>(words, 0, weights), at.left());
  }
}

// A thread as many neighbouring pixels as a vector has samples: 3 loads and one store of 16 bytes.
template <class T>
__global__ __launch_bounds__(kMostBlockThreads) void vectors_kernel(SourceOf<T> in, TargetOf<T> out,
                                                                    LumaWeights weights) {
  constexpr int kEach = kVectorSamples<T>;
  for (auto at = grid_stride<kEach>(in); at.inside(); at.next()) {
    const T* from = in.row(at.y()) + 3 * at.x();
    std::uint32_t words[12];
    load_vectors<3>(from, words);
    const std::uint32_t grey[4] = {luma_word<T>(words, 0, weights), luma_word<T>(words, 1, weights),
                                   luma_word<T>(words, 2, weights), luma_word<T>(words, 3, weights)};
    store_vector(out.row(at.y()) + at.x(), grey, at.left());
  }
}

template <class T>
using Kernel = void (*)(SourceOf<T>, TargetOf<T>, LumaWeights);

template <class T>
CudaStatus launch_gray(Kernel<T> kernel, const dim3& grid, unsigned block, const StageCall<Device>& call,
                       const RungLaunch& launch) {
  kernel<<<grid, block, 0, launch.stream>>>(call.in.plane<T>(0), call.out.plane<T>(0),
                                            luma_weights(GrayParameters(call.parameters).luma));
  return cudaGetLastError();
}

CudaStatus launch_striding(Kernel<Sample> narrow, Kernel<Sample16> wide, const StageCall<Device>& call,
                           const RungLaunch& launch) {
  const unsigned blocks = striding_blocks(launch, kResident);
  const unsigned block = block_of(launch, kBlock);
  return is_wide(call) ? launch_gray(wide, blocks, block, call, launch)
                       : launch_gray(narrow, blocks, block, call, launch);
}

}  // namespace

CudaStatus gray_naive(const StageCall<Device>& call, const RungLaunch& launch) {
  const unsigned block = block_of(launch, kBlock);
  const dim3 grid = column_grid(call.in.type, block);
  return is_wide(call) ? launch_gray<Sample16>(naive_kernel, grid, block, call, launch)
                       : launch_gray<Sample>(naive_kernel, grid, block, call, launch);
}

CudaStatus gray_coalesced(const StageCall<Device>& call, const RungLaunch& launch) {
  const unsigned block = block_of(launch, kBlock);
  const dim3 grid = covering_grid(call.in.type, 1, block);
  return is_wide(call) ? launch_gray<Sample16>(coalesced_kernel, grid, block, call, launch)
                       : launch_gray<Sample>(coalesced_kernel, grid, block, call, launch);
}

CudaStatus gray_words(const StageCall<Device>& call, const RungLaunch& launch) {
  return launch_striding(words_kernel, words_kernel, call, launch);
}

CudaStatus gray_vectors(const StageCall<Device>& call, const RungLaunch& launch) {
  return launch_striding(vectors_kernel, vectors_kernel, call, launch);
}

}  // namespace imgpipe
