// The CUDA device of a lab: its stream, copies, and times by events. Only for CUDA builds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "kernels/cuda_launch.h"
#include "lab/pipeline/measuring.h"
#include "pipeline/cuda/cuda_api.h"
#include "pipeline/device.h"

namespace imgpipe {

// The next multiple of `boundary`, a power of two.
[[nodiscard]] constexpr std::size_t aligned_bytes(std::size_t bytes, std::size_t boundary) {
  return (bytes + boundary - 1) / boundary * boundary;
}

// How runs are queued, and how many are timed where the options leave it open.
struct QueueRule {
  int warm_ups = 3;
  int more_warm_ups = 0;  // where the first take less than slow_us
  double slow_us = 20'000;
  int least = 5, most = 200;
  int batch = 64;  // runs that are queued at a time: well below the capacity of a stream
  std::int64_t most_queued_ns = std::numeric_limits<std::int64_t>::max();
};

// One thread uses it; the device is that thread's current one.
class TimedDevice {
 public:
  // Throws Error(device) when it cannot be used.
  explicit TimedDevice(int index);

  [[nodiscard]] const CudaDevice& info() const { return info_; }
  [[nodiscard]] const Stream& stream() const { return stream_; }
  [[nodiscard]] CudaLaunch launch() const { return {stream_.get(), info_.multiprocessors}; }
  // Total size of the rotating buffers: a buffer has left the cache before it is used again.
  [[nodiscard]] std::size_t rotating_bytes() const { return rotating_bytes_; }

  void wait() const { IMGPIPE_CUDA(cudaStreamSynchronize(stream_.get())); }
  // Asynchronous; nothing happens for 0 bytes.
  void copy_up(void* to, const void* from, std::size_t bytes) const;
  void copy_down(void* to, const void* from, std::size_t bytes) const;

  // Times by events of what queue_run() puts on the stream.
  [[nodiscard]] std::vector<double> times_of_queued(const LabOptions& options, const QueueRule& rule,
                                                    const std::function<void()>& queue_run);

 private:
  void queue(int runs, std::int64_t delay_ns, const std::function<void()>& queue_run);
  void take_times(int runs, std::vector<double>& times);

  CudaDevice info_;
  Stream stream_;
  std::size_t rotating_bytes_ = 0;
  std::vector<Event> events_;
};

}  // namespace imgpipe
