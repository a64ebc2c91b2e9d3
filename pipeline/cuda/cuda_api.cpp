// The CUDA runtime is linked statically, so that the program also runs without a driver.
#include "pipeline/cuda/cuda_api.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <string>

#include "images/error.h"
#include "images/text.h"
#include "pipeline/device.h"

namespace imgpipe {
namespace {

std::atomic<std::int64_t> calls_made{0};
std::atomic<std::int64_t> failing_call{-1};
std::atomic<int> failing_status{cudaSuccess};

}  // namespace

void fail_cuda_call(std::int64_t countdown, cudaError_t status) {
  failing_status = status;
  failing_call = countdown < 0 ? -1 : calls_made + countdown;
}

std::int64_t cuda_calls() {
  return calls_made;
}

bool take_cuda_fault(cudaError_t& status) {
  if (calls_made++ != failing_call) return false;
  status = static_cast<cudaError_t>(failing_status.load());
  return true;
}

void check(cudaError_t status, const char* call, std::source_location where) {
  if (status == cudaSuccess) return;
  const std::string name(call, std::string_view(call).find('('));
  (void)cudaGetLastError();  // clears errors that are not sticky; the next launch would report them
  const std::string message =
      "CUDA: " + name + ": " + cudaGetErrorString(status) + " (" +
      std::string(where.file_name()).substr(std::string(where.file_name()).rfind('/') + 1) + ":" +
      std::to_string(where.line()) + ")";
  throw Error(status == cudaErrorMemoryAllocation ? ErrorKind::memory : ErrorKind::device, message);
}

void DeviceBuffer::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return;
  release();
  try {
    IMGPIPE_CUDA(cudaMalloc(&data_, bytes));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory) throw;
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    (void)cudaMemGetInfo(&free_bytes, &total_bytes);
    throw Error(ErrorKind::memory, "not enough device memory: " + std::to_string(bytes) + " bytes needed, " +
                                       std::to_string(free_bytes) + " of " + std::to_string(total_bytes) +
                                       " are free");
  }
  bytes_ = bytes;
  IMGPIPE_CUDA(cudaMemset(data_, 0, bytes));
  IMGPIPE_CUDA(cudaStreamSynchronize(nullptr));  // other streams do not wait for it
}

void DeviceBuffer::release() noexcept {
  if (data_ != nullptr) (void)cudaFree(data_);
  data_ = nullptr;
  bytes_ = 0;
}

std::int64_t free_device_bytes() {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  IMGPIPE_CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
  return static_cast<std::int64_t>(free_bytes);
}

double measure_device_copy_bandwidth(const Stream& stream) {
  constexpr std::size_t kBytes = std::size_t{512} << 20;
  constexpr int kCopies = 7;
  DeviceBuffer from;
  DeviceBuffer to;
  from.reserve(kBytes);
  to.reserve(kBytes);
  std::vector<Event> marks(kCopies + 1);
  for (int i = 0; i <= kCopies; ++i) {
    if (i > 0)
      IMGPIPE_CUDA(cudaMemcpyAsync(to.data(), from.data(), kBytes, cudaMemcpyDeviceToDevice, stream.get()));
    marks[static_cast<std::size_t>(i)].record(stream);
  }
  marks.back().wait();
  std::vector<float> times(kCopies);
  for (std::size_t i = 0; i < kCopies; ++i)
    IMGPIPE_CUDA(cudaEventElapsedTime(&times[i], marks[i].get(), marks[i + 1].get()));
  std::ranges::sort(times);
  return 2.0 * kBytes / (static_cast<double>(times[kCopies / 2]) / 1e3);
}

bool built_with_cuda() {
  return true;
}

std::string cuda_version() {
  return std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
}

CudaDevices list_cuda_devices() {
  CudaDevices found;
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) (void)cudaGetLastError();  // the caller's next launch would report it
  if (status == cudaErrorInsufficientDriver) {
    int driver = 0;
    const bool known = cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0;
    found.unusable_reason = known ? "the driver is too old for CUDA " + cuda_version() : "no CUDA driver";
    return found;
  }
  if (status != cudaSuccess) {
    found.unusable_reason = cudaGetErrorString(status);
    return found;
  }
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) continue;
    found.devices.push_back({i, printable(properties.name), properties.major, properties.minor,
                             static_cast<std::int64_t>(properties.totalGlobalMem),
                             properties.multiProcessorCount});
  }
  if (found.devices.empty()) found.unusable_reason = "no CUDA device";
  return found;
}

}  // namespace imgpipe
