// How a stage is launched on a CUDA device. Holds no CUDA header, so that the stage table compiles anywhere.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace imgpipe {

struct CudaLaunch {
  CUstream_st* stream = nullptr;  // a cudaStream_t
  int multiprocessors = 1;        // of the device: grids that stride over their work are sized by it
};

// A cudaError_t; 0 is success.
using CudaStatus = int;

// How a function `..._way_cuda` goes over the bins of 16-bit samples: by clusters of blocks where the device
// and what was compiled for it have them (compute capability 9.0 on), or by one block each. The stages' own
// functions pick the fastest; with these, tests reach what other devices run.
enum class Clusters : std::uint8_t { where_they_are, none };

// What every CUDA stage asks of its planes: the first sample and the stride on 16-byte boundaries, and each
// row readable (not writable) up to the next multiple of kDeviceRowPixels pixels.
// pipeline/cuda/device_memory.h makes such planes.
inline constexpr int kDeviceRowPixels = 16;

}  // namespace imgpipe
