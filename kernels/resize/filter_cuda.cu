// resize by Pillow's filters on a CUDA device. Both passes run in one kernel.
#include <algorithm>
#include <cstdint>
#include <span>

#include "kernels/resize/filter_sample.cuh"
#include "kernels/resize/filter_tile.cuh"
#include "kernels/shared/image_group.cuh"

namespace imgpipe {
namespace {

// Of a multiprocessor: half of its threads, because most tiles' shared memory admits few more.
constexpr int kFilterBlocks = kMultiprocessorThreads / (2 * kFilterThreads);
constexpr std::int64_t kMaxFilterGrid = std::int64_t{1} << 30;

// A block makes a tile at a time, of image blockIdx.z; its shared memory holds the arrays of FilterTile. The
// barrier: all threads have finished the tile before the weights of the next one are written.
template <class T, std::size_t Most>
__global__ __launch_bounds__(kFilterThreads, kFilterBlocks) void filter_kernel(
    const __grid_constant__ ImageGroup<FilterImage<T>, Most> group) {
  const FilterImage<T>& image = group.of_block();
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
      status = cudaFuncSetAttribute(filter_kernel<T, 1>, cudaFuncAttributeMaxDynamicSharedMemorySize, most);
    if (status != cudaSuccess) return status;
    image = filter_image<T>(call, launch, most);
  }
  const auto blocks = static_cast<unsigned>(std::min(image.tiles, kMaxFilterGrid));
  if (!image.tiling.fits()) {
    filter_output_kernel<T><<<blocks, kFilterThreads, 0, launch.stream>>>(image);
    return cudaGetLastError();
  }
  filter_kernel<T, 1>
      <<<blocks, kFilterThreads, static_cast<std::size_t>(image.tiling.bytes), launch.stream>>>({{image}});
  return cudaGetLastError();
}

template <class T>
CudaStatus launch_filters(DeviceCalls calls, const CudaLaunch& launch) {
  const auto one = [&](const StageCall<Device>& call) { return launch_filter<T>(call, launch); };
  if (calls.size() == 1) return one(*calls.front());
  const auto image_of = [&](const StageCall<Device>& call) {
    return filter_image<T>(call, launch, kFilterSharedBytes, calls.size());
  };
  return launch_in_groups(
      calls, image_of,
      [&]<std::size_t Most>(const ImageGroup<FilterImage<T>, Most>& group, DeviceCalls part) -> CudaStatus {
        std::int64_t tiles = 0;
        int bytes = 0;
        for (const FilterImage<T>& image : std::span(group.images).first(part.size())) {
          if (!image.tiling.fits()) return launch_each(part, one);
          tiles = std::max(tiles, image.tiles);
          bytes = std::max(bytes, image.tiling.bytes);
        }
        const auto blocks = static_cast<unsigned>(std::min(tiles, kMaxFilterGrid));
        filter_kernel<T, Most><<<dim3(blocks, 1, group_size(part)), kFilterThreads,
                                 static_cast<std::size_t>(bytes), launch.stream>>>(group);
        return cudaGetLastError();
      });
}

}  // namespace

CudaStatus resize_filter_cuda(DeviceCalls calls, const CudaLaunch& launch) {
  return is_wide(calls.front()->in.type.sample) ? launch_filters<Sample16>(calls, launch)
                                                : launch_filters<Sample8>(calls, launch);
}

}  // namespace imgpipe
