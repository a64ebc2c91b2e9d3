// The lab's CUDA device: its stream, copies, and times by events. Only for CUDA builds.
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

// Rounds up to a multiple of `boundary`.
[[nodiscard]] constexpr std::size_t aligned_bytes(std::size_t bytes, std::size_t boundary) {
  return (bytes + boundary - 1) / boundary * boundary;
}

// How runs are queued, and how many are timed if the options do not set it.
struct QueueRule {
  int warm_ups = 3;
  int more_warm_ups = 0;  // if the first warm-up takes less than slow_us
  double slow_us = 20'000;
  int least = 5, most = 200;
  int batch = 64;  // runs queued at a time: well below the capacity of a stream
  std::int64_t max_queued_ns = std::numeric_limits<std::int64_t>::max();
};

// Makes the device current on the constructing thread, the only thread that may use this object.
class TimedDevice {
 public:
  // Throws Error(device) if the device cannot be used.
  explicit TimedDevice(int index);

  [[nodiscard]] const CudaDevice& info() const { return info_; }
  [[nodiscard]] const Stream& stream() const { return stream_; }
  [[nodiscard]] CudaLaunch launch() const { return {stream_.get(), info_.multiprocessors}; }
  // Total size of the rotating buffers, so that a buffer has left the cache before it is used again.
  [[nodiscard]] std::size_t rotating_bytes() const { return rotating_bytes_; }

  void wait() const { IMGPIPE_CUDA(cudaStreamSynchronize(stream_.get())); }
  // Asynchronous; does nothing for 0 bytes.
  void copy_up(void* to, const void* from, std::size_t bytes) const;
  void copy_down(void* to, const void* from, std::size_t bytes) const;

  // Times the work that queue_run() puts on the stream, with CUDA events.
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
