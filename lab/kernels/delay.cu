#include <cuda_runtime.h>

#include "lab/kernels/delay.h"

namespace imgpipe {
namespace {

__global__ void delay_kernel(unsigned long long nanoseconds) {
  unsigned long long start = 0;
  unsigned long long now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < nanoseconds);
}

}  // namespace

CudaStatus delay_cuda(const CudaLaunch& launch, std::int64_t nanoseconds) {
  if (nanoseconds <= 0) return cudaSuccess;
  delay_kernel<<<1, 1, 0, launch.stream>>>(static_cast<unsigned long long>(nanoseconds));
  return cudaGetLastError();
}

}  // namespace imgpipe
