// What the ladders' kernels share: who works on which pixels, for any grid.
#pragma once

#include "kernels/device_rows.cuh"
#include "lab/kernels/rung.h"

namespace imgpipe {

constexpr int kMostBlockThreads = 1024;  // every ladder kernel is built for them: __launch_bounds__
constexpr unsigned kMostGridRows = 65535;

// What most rungs launch when nothing else is asked for.
constexpr int kBlock = 256;
constexpr int kResident = 8;  // blocks of kBlock threads: 2048 threads a multiprocessor

template <class T>
using SourceOf = Plane<const T, Device>;
template <class T>
using TargetOf = Plane<T, Device>;
using Source = SourceOf<Sample>;
using Target = TargetOf<Sample>;

// Samples of type T in a word.
template <class T>
constexpr int kWordSamples = 4 / static_cast<int>(sizeof(T));

// Items of kPixels neighbouring pixels, row by row; the last of a row may reach into the padding. A thread
// begins at item `first` and goes on by `step` items, without a division on the way:
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
  // Pixels of the item, up to kPixels of them the item's.
  __device__ std::int64_t left() const { return width_ - x(); }

 private:
  std::int64_t width_, height_;
  std::uint32_t items_;  // a row
  std::int64_t y_ = 0, step_rows_ = 0;
  std::uint32_t item_ = 0, step_items_ = 0;
};

// The grid's threads in order, each taking the next item that no other takes: neighbours in a warp work on
// neighbouring items.
template <int kPixels, class T>
__device__ ItemWalk<kPixels> grid_stride(const Plane<T, Device>& plane) {
  return {plane, std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x, std::uint64_t{gridDim.x} * blockDim.x};
}

// Each thread a run of items of its own.
template <int kPixels>
struct Chunk {
  ItemWalk<kPixels> at;
  std::uint64_t count;  // items; 0: nothing is left for this thread
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

// What becomes of each sample of a word.
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

// Writes a word's samples, or the first `count`.
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

// For rungs of both types of samples.
inline bool is_wide(const StageCall<Device>& call) {
  return call.in.type.sample == SampleType::u16;
}

inline unsigned block_of(const RungLaunch& launch, int preset) {
  return static_cast<unsigned>(launch.block > 0 ? launch.block : preset);
}

// A grid that strides over its work: as many blocks as were asked for, or `resident` a multiprocessor.
inline unsigned striding_blocks(const RungLaunch& launch, int resident) {
  return static_cast<unsigned>(launch.blocks > 0 ? launch.blocks : launch.multiprocessors * resident);
}

// A grid with a thread for every item: x along the rows, y the rows (beyond kMostGridRows they stride).
inline dim3 covering_grid(const FrameType& shape, int pixels_a_thread, unsigned block) {
  const std::int64_t items = (shape.width + pixels_a_thread - 1) / pixels_a_thread;
  return {static_cast<unsigned>((items + block - 1) / block),
          static_cast<unsigned>(shape.height < kMostGridRows ? shape.height : kMostGridRows), 1};
}

// A grid with a thread for every row: x down the rows, y the columns.
inline dim3 column_grid(const FrameType& shape, unsigned block) {
  return {static_cast<unsigned>((shape.height + block - 1) / block),
          static_cast<unsigned>(shape.width < kMostGridRows ? shape.width : kMostGridRows), 1};
}

inline CudaStatus clear_histogram(const StageCall<Device>& call, const CudaLaunch& launch, int planes = 1) {
  return cudaMemsetAsync(call.histogram.data, 0,
                         static_cast<std::size_t>(planes) * static_cast<std::size_t>(call.histogram.stride) *
                             sizeof(std::uint64_t),
                         launch.stream);
}

// The pixels that are left of a word or vector of `most`.
__device__ __forceinline__ int first_bins(std::int64_t left, int most) {
  return left < most ? static_cast<int>(left) : most;
}

__device__ __forceinline__ void add_to(std::uint64_t* counter, std::uint64_t count) {
  atomicAdd(reinterpret_cast<unsigned long long*>(counter), static_cast<unsigned long long>(count));
}

}  // namespace imgpipe
