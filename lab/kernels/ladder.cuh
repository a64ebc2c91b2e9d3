// Assigns pixels to threads, for any grid, and launches the kernels of the ladders.
#pragma once

#include "kernels/hist/hist.h"
#include "kernels/shared/device_rows.cuh"
#include "lab/kernels/stage_variant.h"

namespace imgpipe {

constexpr int kMaxBlockThreads = 1024;  // the __launch_bounds__ of every ladder kernel
constexpr unsigned kMaxGridRows = 65535;

// The default launch of most variants.
constexpr int kBlock = 256;
constexpr int kResident = 8;  // blocks of kBlock threads per multiprocessor: 2048 threads

template <class T>
using SourceOf = Plane<const T, Device>;
template <class T>
using TargetOf = Plane<T, Device>;
using Source = SourceOf<Sample8>;
using Target = TargetOf<Sample8>;

// Samples of type T per word.
template <class T>
constexpr int kWordSamples = 4 / static_cast<int>(sizeof(T));

// Walks over items of kPixels neighbouring pixels, row by row; the last item of a row may extend into the
// padding. A thread begins at item `first` and advances by `step` items, without further divisions:
//
//   kPixels = 4      | 0123 | 4567 | 89.. |   row 0: items 0, 1, 2, of which the last has 2 pixels
//                    | 0123 | 4567 | 89.. |   row 1: items 3, 4, 5
template <int kPixels>
class ItemWalk {
 public:
  template <class T>
  __device__ ItemWalk(const Plane<T, Device>& plane, std::uint64_t first, std::uint64_t step)
      : width_(plane.width),
        height_(plane.height),
        items_(static_cast<std::uint32_t>((plane.width + kPixels - 1) / kPixels)) {
    if (((first | step) >> 32) == 0) {
      const auto first32 = static_cast<std::uint32_t>(first);
      const auto step32 = static_cast<std::uint32_t>(step);
      y_ = first32 / items_;
      item_ = first32 % items_;
      step_rows_ = step32 / items_;
      step_items_ = step32 % items_;
    } else {
      y_ = static_cast<std::int64_t>(first / items_);
      item_ = static_cast<std::uint32_t>(first % items_);
      step_rows_ = static_cast<std::int64_t>(step / items_);
      step_items_ = static_cast<std::uint32_t>(step % items_);
    }
  }
  __device__ bool inside() const { return y_ < height_; }
  __device__ void next() {
    y_ += step_rows_;
    item_ += step_items_;
    if (item_ >= items_) {
      item_ -= items_;
      ++y_;
    }
  }
  __device__ std::int64_t x() const { return std::int64_t{item_} * kPixels; }
  __device__ std::int64_t y() const { return y_; }
  // Pixels from the item's first to the end of the row; min(left, kPixels) of them belong to the item.
  __device__ std::int64_t left() const { return width_ - x(); }

 private:
  std::int64_t width_, height_;
  std::uint32_t items_;  // per row
  std::int64_t y_ = 0, step_rows_ = 0;
  std::uint32_t item_ = 0, step_items_ = 0;
};

// Gives thread i of n the items i, i + n, i + 2n, ...: neighbours in a warp work on neighbouring items.
template <int kPixels, class T>
__device__ ItemWalk<kPixels> grid_stride(const Plane<T, Device>& plane) {
  return {plane, std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x, std::uint64_t{gridDim.x} * blockDim.x};
}

// Gives each thread a contiguous run of items.
template <int kPixels>
struct Chunk {
  ItemWalk<kPixels> at;
  std::uint64_t count;  // items; 0 if none is left for this thread
};
template <int kPixels, class T>
__device__ Chunk<kPixels> chunk_of_thread(const Plane<T, Device>& plane) {
  const std::uint64_t items = static_cast<std::uint64_t>((plane.width + kPixels - 1) / kPixels) *
                              static_cast<std::uint64_t>(plane.height);
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t each = (items + threads - 1) / threads;
  const std::uint64_t first = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) * each;
  const std::uint64_t end = first + each < items ? first + each : items;
  return {ItemWalk<kPixels>(plane, first, 1), first < end ? end - first : 0};
}

template <class T>
__device__ __forceinline__ std::uint32_t load_word(const T* from) {
  return __ldg(reinterpret_cast<const std::uint32_t*>(from));
}

// Maps each sample of a word.
template <class T, class Map>
__device__ __forceinline__ std::uint32_t mapped_word(std::uint32_t word, const Map& map) {
  constexpr int kBits = 8 * static_cast<int>(sizeof(T));
  std::uint32_t result = 0;
#pragma unroll
  for (int k = 0; k < kWordSamples<T>; ++k)
    result |= std::uint32_t{map(word >> (kBits * k) & static_cast<std::uint32_t>(kLargest<T>))}
              << (kBits * k);
  return result;
}

// Writes the word's samples, at most the first `count`.
template <class T>
__device__ __forceinline__ void store_word(T* to, std::uint32_t word, std::int64_t count) {
  if (count >= kWordSamples<T>) {
    *reinterpret_cast<std::uint32_t*>(to) = word;
    return;
  }
#pragma unroll
  for (int k = 0; k < kWordSamples<T>; ++k) {
    if (k < count) to[k] = static_cast<T>(word >> (8 * static_cast<int>(sizeof(T)) * k));
  }
}

// ---- launches ----------------------------------------------------------------------------------------

struct LaunchGrid {
  dim3 blocks;
  unsigned threads = kBlock;  // per block
  std::size_t shared_bytes = 0;
};

inline unsigned block_of(const VariantLaunch& launch, int preset) {
  return static_cast<unsigned>(launch.block > 0 ? launch.block : preset);
}

// Returns the blocks of a grid that strides over its work: as requested, or `resident` per multiprocessor.
inline unsigned striding_blocks(const VariantLaunch& launch, int resident) {
  return static_cast<unsigned>(launch.blocks > 0 ? launch.blocks : launch.multiprocessors * resident);
}
inline LaunchGrid striding(const VariantLaunch& launch, int threads = kBlock, int resident = kResident) {
  return {striding_blocks(launch, resident), block_of(launch, threads)};
}

// A grid with one thread per item of an a x b plane: x along a, y along b; it strides beyond kMaxGridRows.
inline LaunchGrid covering_plane(std::int64_t a, std::int64_t b, const VariantLaunch& launch) {
  const unsigned threads = block_of(launch, kBlock);
  return {{static_cast<unsigned>((a + threads - 1) / threads),
           static_cast<unsigned>(b < kMaxGridRows ? b : kMaxGridRows), 1},
          threads};
}
// One thread per pixel, with x along the rows or, in covering_columns(), down the columns.
inline LaunchGrid covering(const StageCall<Device>& call, const VariantLaunch& launch) {
  return covering_plane(call.in.type.width, call.in.type.height, launch);
}
inline LaunchGrid covering_columns(const StageCall<Device>& call, const VariantLaunch& launch) {
  return covering_plane(call.in.type.height, call.in.type.width, launch);
}

// Launches kernel(in, out, arguments...).
template <class T, class... Parameters, class... Arguments>
CudaStatus launch_pixels(void (*kernel)(SourceOf<T>, TargetOf<T>, Parameters...), const LaunchGrid& grid,
                         const StageCall<Device>& call, const VariantLaunch& launch,
                         const Arguments&... arguments) {
  kernel<<<grid.blocks, grid.threads, grid.shared_bytes, launch.stream>>>(call.in.plane<T>(0),
                                                                          call.out.plane<T>(0), arguments...);
  return cudaGetLastError();
}

// Clears the counters and launches kernel(in, counters).
template <class T>
CudaStatus launch_counts(void (*kernel)(SourceOf<T>, Histogram<Device>), const LaunchGrid& grid,
                         const StageCall<Device>& call, const VariantLaunch& launch) {
  if (const CudaStatus cleared = clear_histogram(call, launch); cleared != cudaSuccess) return cleared;
  kernel<<<grid.blocks, grid.threads, grid.shared_bytes, launch.stream>>>(call.in.plane<T>(0),
                                                                          call.histogram);
  return cudaGetLastError();
}

// Returns how many of a word's or vector's `most` pixels are left in the row.
__device__ __forceinline__ int pixels_in_item(std::int64_t left, int most) {
  return left < most ? static_cast<int>(left) : most;
}

__device__ __forceinline__ void add_to(std::uint64_t* counter, std::uint64_t count) {
  atomicAdd(reinterpret_cast<unsigned long long*>(counter), static_cast<unsigned long long>(count));
}

}  // namespace imgpipe
