// resize by Pillow's filters on a CUDA device. Both passes run in one kernel.
#include <algorithm>
#include <cstdint>

#include "kernels/resize/filter_sample.cuh"
#include "kernels/resize/filter_tile.cuh"

namespace imgpipe {
namespace {

// Of a multiprocessor: half of its threads, because most tiles' shared memory admits few more.
constexpr int kFilterBlocks = kMultiprocessorThreads / (2 * kFilterThreads);
constexpr std::int64_t kMaxFilterGrid = std::int64_t{1} << 30;

// A block makes a tile at a time; its shared memory holds the arrays of FilterTile. The barrier: all threads
// have finished the tile before the weights of the next one are written.
template <class T>
__global__ __launch_bounds__(kFilterThreads,
                             kFilterBlocks) void filter_kernel(const __grid_constant__ FilterImage<T> image) {
  extern __shared__ uint4 filter_shared[];
  for (std::int64_t tile = blockIdx.x; tile < image.tiles; tile += gridDim.x) {
    FilterTile<T>(image, tile, reinterpret_cast<std::byte*>(filter_shared)).make();
    __syncthreads();
  }
}

// A block makes an output sample at a time, of all planes if alpha is among them; its shared memory holds a
// term per thread. FilterOutput ends with a barrier.
template <class T>
__global__ __launch_bounds__(kFilterThreads) void filter_output_kernel(
    const __grid_constant__ FilterImage<T> image) {
  __shared__ FilterWeight<T> terms[kFilterThreads];
  for (std::int64_t tile = blockIdx.x; tile < image.tiles; tile += gridDim.x)
    FilterOutput<T>(image, tile, terms).make();
}

template <class T>
CudaStatus launch_filter(const StageCall<Device>& call, const CudaLaunch& launch) {
  FilterImage<T> image = filter_image<T>(call, launch, kFilterSharedBytes);
  if (!image.tiling.fits()) {
    int most = 0;
    cudaError_t status = shared_bytes_of_a_block(most);
    // The attribute is the same for all calls, because threads launch concurrently.
    if (status == cudaSuccess)
      status = cudaFuncSetAttribute(filter_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
    if (status != cudaSuccess) return status;
    image = filter_image<T>(call, launch, most);
  }
  const auto blocks = static_cast<unsigned>(std::min(image.tiles, kMaxFilterGrid));
  if (!image.tiling.fits()) {
    filter_output_kernel<T><<<blocks, kFilterThreads, 0, launch.stream>>>(image);
    return cudaGetLastError();
  }
  filter_kernel<T>
      <<<blocks, kFilterThreads, static_cast<std::size_t>(image.tiling.bytes), launch.stream>>>(image);
  return cudaGetLastError();
}

}  // namespace

CudaStatus resize_filter_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return is_wide(call.in.type.sample) ? launch_filter<Sample16>(call, launch)
                                      : launch_filter<Sample8>(call, launch);
}

}  // namespace imgpipe
