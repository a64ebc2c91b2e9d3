// CUDA resources as objects, and every call's status as an exception. Only for CUDA builds.
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

// Throws Error(memory) for cudaErrorMemoryAllocation and Error(device) for any other failure, naming the call
// and the place in the source.
void check(cudaError_t status, const char* call,
           std::source_location where = std::source_location::current());

// A seam for tests: the call number `countdown` from now (0: the next) is not made and returns `status`
// instead. Negative: none. Counts over all threads.
void fail_cuda_call(std::int64_t countdown, cudaError_t status);
// Calls checked since the process began.
[[nodiscard]] std::int64_t cuda_calls();
// True when the next call is the one that is to fail; counts it.
[[nodiscard]] bool take_cuda_fault(cudaError_t& status);

// Makes a call unless the seam says otherwise, and checks its status.
#define IMGPIPE_CUDA(call)                                                    \
  do {                                                                        \
    cudaError_t imgpipe_status = cudaSuccess;                                 \
    if (!::imgpipe::take_cuda_fault(imgpipe_status)) imgpipe_status = (call); \
    ::imgpipe::check(imgpipe_status, #call);                                  \
  } while (false)

// Makes the device current again, in the end, that was the calling thread's in the beginning.
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
    // Never without need: it makes a context on a device that has none.
    if (before_ != kUnknown && now != before_) (void)cudaSetDevice(before_);
  }
  DeviceRestorer(const DeviceRestorer&) = delete;
  DeviceRestorer& operator=(const DeviceRestorer&) = delete;

 private:
  static constexpr int kUnknown = -1;
  int before_ = kUnknown;
};

// Restores the current device of a thread of the library's user. Our own threads keep the last one: to
// restore device 0 there would create a context on it.
class UserDeviceRestorer {
 public:
  UserDeviceRestorer() noexcept {
    if (!is_own_thread()) restorer_.emplace();
  }

 private:
  std::optional<DeviceRestorer> restorer_;
};

// Makes a device current, and restores the user's in the end.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) { IMGPIPE_CUDA(cudaSetDevice(device)); }

 private:
  const UserDeviceRestorer restorer_;
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
  // `flags` as cudaEventCreateWithFlags() takes them.
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

// Device memory that grows when more is asked for and is else used again. New memory is cleared once, so that
// padding never holds what was never written.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  ~DeviceBuffer() { release(); }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  // Throws Error(memory) that names what was needed and what was free.
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

// Bytes a second, read plus written, of a copy between two buffers of the present device, each far larger
// than its L2 cache: the median of several. Takes a GiB of its memory while it runs.
[[nodiscard]] double measure_device_copy_bandwidth(const Stream& stream);

}  // namespace imgpipe
