// RAII objects for CUDA resources, and exceptions for failed calls. Only for CUDA builds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include "pipeline/device.h"
#include "pipeline/threads/thread_start.h"

namespace imgpipe {

// Throws Error(memory) for cudaErrorMemoryAllocation and Error(device) for any other failure, with the call
// and its source location.
void check(cudaError_t status, const char* call,
           std::source_location where = std::source_location::current());

// For tests: lets one call fail with `status` instead of making it. `countdown`: the number of calls, over
// all threads, to make first; negative: no call fails.
void fail_cuda_call(std::int64_t countdown, cudaError_t status);
// The number of calls counted since the process began.
[[nodiscard]] std::int64_t cuda_calls();
// Counts a call. Returns true and sets `status` if the call must fail.
[[nodiscard]] bool take_cuda_fault(cudaError_t& status);

// Makes a call, unless fail_cuda_call() replaces it, and checks its status.
#define IMGPIPE_CUDA(call)                                                    \
  do {                                                                        \
    cudaError_t imgpipe_status = cudaSuccess;                                 \
    if (!::imgpipe::take_cuda_fault(imgpipe_status)) imgpipe_status = (call); \
    ::imgpipe::check(imgpipe_status, #call);                                  \
  } while (false)

// Saves the calling thread's current device, and restores it at the end.
class DeviceRestorer {
 public:
  DeviceRestorer() noexcept {
    if (cudaGetDevice(&before_) == cudaSuccess) return;
    before_ = kUnknown;
    (void)cudaGetLastError();
  }
  ~DeviceRestorer() {
    int now = kUnknown;
    (void)cudaGetDevice(&now);
    // Only if necessary, because the call creates a context on a device that has none.
    if (before_ != kUnknown && now != before_) (void)cudaSetDevice(before_);
  }
  DeviceRestorer(const DeviceRestorer&) = delete;
  DeviceRestorer& operator=(const DeviceRestorer&) = delete;

 private:
  static constexpr int kUnknown = -1;
  int before_ = kUnknown;
};

// Like DeviceRestorer, but only on threads of the library's user. The library's threads keep their last
// device, because restoring device 0 would create a context on it.
class UserDeviceRestorer {
 public:
  UserDeviceRestorer() noexcept {
    if (!is_library_thread()) restorer_.emplace();
  }

 private:
  std::optional<DeviceRestorer> restorer_;
};

// Lets the calling thread allocate, free and query while a stream of the process captures a graph: otherwise
// such calls fail and invalidate the capture. The device must be current already, because this may create its
// context.
class RelaxedCapture {
 public:
  RelaxedCapture() noexcept { exchange(); }
  ~RelaxedCapture() { exchange(); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  void exchange() noexcept {
    if (cudaThreadExchangeStreamCaptureMode(&mode_) != cudaSuccess) (void)cudaGetLastError();
  }
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

// Makes a device current, and restores the user's device at the end.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    IMGPIPE_CUDA(cudaSetDevice(device));
    relaxed_.emplace();
  }

 private:
  const UserDeviceRestorer restorer_;
  std::optional<RelaxedCapture> relaxed_;
};

class Stream {
 public:
  Stream() { IMGPIPE_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { (void)cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  explicit Event(unsigned flags = cudaEventDefault) {
    IMGPIPE_CUDA(cudaEventCreateWithFlags(&event_, flags));
  }
  ~Event() {
    if (event_ != nullptr) (void)cudaEventDestroy(event_);
  }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&&) = delete;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  [[nodiscard]] cudaEvent_t get() const { return event_; }
  void record(const Stream& stream) const { IMGPIPE_CUDA(cudaEventRecord(event_, stream.get())); }
  void wait() const { IMGPIPE_CUDA(cudaEventSynchronize(event_)); }

 private:
  cudaEvent_t event_ = nullptr;
};

// Device memory that grows on demand and is reused. New memory is zeroed, so that padding is never
// uninitialised.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  ~DeviceBuffer() { release(); }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  // Growing discards the contents. Throws Error(memory), which names the needed and the free bytes.
  void reserve(std::size_t bytes);
  void release() noexcept;
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::size_t size_bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Returns the free memory of the current device.
[[nodiscard]] std::int64_t free_device_bytes();

// Measures the bytes per second, read plus written, of copies between two buffers of the current device, each
// much larger than its L2 cache; the median of several copies. Temporarily takes 1 GiB of device memory.
[[nodiscard]] double measure_device_copy_bandwidth(const Stream& stream);

}  // namespace imgpipe
