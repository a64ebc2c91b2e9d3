// The launch of a stage on a CUDA device. Includes no CUDA header: the stage table compiles anywhere.
#pragma once

#include <cstdint>

struct CUstream_st;

namespace imgpipe {

struct CudaLaunch {
  CUstream_st* stream = nullptr;  // a cudaStream_t
  int multiprocessors = 1;        // of the device; sizes grids that stride over their work
};

// A cudaError_t; 0 is success.
using CudaStatus = int;

// The method by which functions traverse the bins of 16-bit samples: with clusters of blocks if the device
// and the binary support them (compute capability 9.0 and later), or with one block per histogram. The
// functions in the stage table use where_supported; tests also use none, to run the code path for other
// devices.
enum class Clusters : std::uint8_t { where_supported, none };

// The requirements of every CUDA stage: first samples and strides on 16-byte boundaries, rows readable up to
// the next multiple of kDeviceRowPixels pixels. pipeline/cuda/device_memory.h allocates such planes.
inline constexpr int kDeviceRowPixels = 16;

}  // namespace imgpipe
