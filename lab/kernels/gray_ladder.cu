// The CUDA variants of gray, oldest first.
#include "kernels/gray/gray.h"
#include "lab/kernels/ladder.cuh"
#include "lab/kernels/variant_functions.h"

namespace imgpipe {
namespace {

// One thread per pixel; threadIdx.x runs down a column, so the 32 lanes of a warp read from 32 rows.
template <class T>
__global__ __launch_bounds__(kMaxBlockThreads) void naive_kernel(SourceOf<T> in, TargetOf<T> out,
                                                                 LumaWeights weights) {
  const std::int64_t y = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (y >= in.height) return;
  for (std::int64_t x = blockIdx.y; x < in.width; x += gridDim.y) {
    const T* pixel = in.row(y) + 3 * x;
    out.row(y)[x] = luma_of<T>(weights, pixel[0], pixel[1], pixel[2]);
  }
}

// One thread per pixel; threadIdx.x runs along a row, so a warp reads 96 neighbouring samples and writes 32.
template <class T>
__global__ __launch_bounds__(kMaxBlockThreads) void coalesced_kernel(SourceOf<T> in, TargetOf<T> out,
                                                                     LumaWeights weights) {
  const std::int64_t x = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (x >= in.width) return;
  for (std::int64_t y = blockIdx.y; y < in.height; y += gridDim.y) {
    const T* pixel = in.row(y) + 3 * x;
    out.row(y)[x] = luma_of<T>(weights, pixel[0], pixel[1], pixel[2]);
  }
}

// Converts interleaved RGB in `words` to luma; returns word `i` of the luma samples.
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

// Each thread handles as many neighbouring pixels as a word has samples: 3 loads and one store of 4 bytes.
template <class T>
__global__ __launch_bounds__(kMaxBlockThreads) void words_kernel(SourceOf<T> in, TargetOf<T> out,
                                                                 LumaWeights weights) {
  constexpr int kEach = kWordSamples<T>;
  for (auto at = grid_stride<kEach>(in); at.inside(); at.next()) {
    const T* from = in.row(at.y()) + 3 * at.x();
    const std::uint32_t words[3] = {load_word(from), load_word(from + kEach), load_word(from + 2 * kEach)};
    store_word(out.row(at.y()) + at.x(), luma_word<T>(words, 0, weights), at.left());
  }
}

// Each thread handles as many neighbouring pixels as a vector has samples: 3 loads and one store of 16 bytes.
template <class T>
__global__ __launch_bounds__(kMaxBlockThreads) void vectors_kernel(SourceOf<T> in, TargetOf<T> out,
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

LumaWeights weights_of(const StageCall<Device>& call) {
  return luma_weights(GrayParameters(call.parameters).luma);
}

}  // namespace

CudaStatus gray_naive(const StageCall<Device>& call, const VariantLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) {
    return launch_pixels(naive_kernel<T>, covering_columns(call, launch), call, launch, weights_of(call));
  });
}

CudaStatus gray_coalesced(const StageCall<Device>& call, const VariantLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) {
    return launch_pixels(coalesced_kernel<T>, covering(call, launch), call, launch, weights_of(call));
  });
}

CudaStatus gray_words(const StageCall<Device>& call, const VariantLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) {
    return launch_pixels(words_kernel<T>, striding(launch), call, launch, weights_of(call));
  });
}

CudaStatus gray_vectors(const StageCall<Device>& call, const VariantLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) {
    return launch_pixels(vectors_kernel<T>, striding(launch), call, launch, weights_of(call));
  });
}

}  // namespace imgpipe
