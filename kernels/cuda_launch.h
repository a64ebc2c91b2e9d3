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

// How the functions `..._way_cuda` traverse the bins of 16-bit samples: with clusters of blocks where the
// device and the binary support them (compute capability 9.0 and later), or with one block each. The
// functions in the table of stages pick the faster; tests choose, to reach the code of other devices.
enum class Clusters : std::uint8_t { where_they_are, none };

// What every CUDA stage asks of its planes: the first sample and the stride on 16-byte boundaries, and each
// row readable (not writable) up to the next multiple of kDeviceRowPixels pixels.
// pipeline/cuda/device_memory.h makes such planes.
inline constexpr int kDeviceRowPixels = 16;

}  // namespace imgpipe
