// How a stage is launched on a CUDA device. Holds no CUDA header, so that the stage table compiles anywhere.
#pragma once

struct CUstream_st;

namespace imgpipe {

struct CudaLaunch {
  CUstream_st* stream = nullptr;  // a cudaStream_t
  int multiprocessors = 1;        // of the device: grids that stride over their work are sized by it
};

// A cudaError_t; 0 is success.
using CudaStatus = int;

// What every CUDA stage asks of its planes: the first sample and the stride on 16-byte boundaries, and each
// row readable (not writable) up to the next multiple of kDeviceRowPixels pixels.
// pipeline/cuda/device_memory.h makes such planes.
inline constexpr int kDeviceRowPixels = 16;

}  // namespace imgpipe
