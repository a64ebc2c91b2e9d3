#include <algorithm>
#include <chrono>

#include "lab/kernels/delay.h"
#include "lab/pipeline/timed_device.h"

namespace imgpipe {
namespace {

constexpr double kQueuedBudgetUs = 200'000;  // for a variant's timed runs

// Makes the device current before anything is created on it.
CudaDevice current_device(int index) {
  CudaDevice device = find_cuda_device(index);
  IMGPIPE_CUDA(cudaSetDevice(index));
  return device;
}

}  // namespace

TimedDevice::TimedDevice(int index) : info_(current_device(index)) {
  int l2_bytes = 0;
  IMGPIPE_CUDA(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, index));
  rotating_bytes_ = 3 * static_cast<std::size_t>(std::max(l2_bytes, 1 << 20));
}

void TimedDevice::copy_up(void* to, const void* from, std::size_t bytes) const {
  if (bytes > 0) IMGPIPE_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_.get()));
}

void TimedDevice::copy_down(void* to, const void* from, std::size_t bytes) const {
  if (bytes > 0) IMGPIPE_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_.get()));
}

// Queues the runs, each between two events, after a delay that lasts until all are queued.
void TimedDevice::queue(int runs, std::int64_t delay_ns, const std::function<void()>& queue_run) {
  IMGPIPE_CUDA(static_cast<cudaError_t>(delay_cuda(launch(), delay_ns)));
  while (events_.size() < 2 * static_cast<std::size_t>(runs)) events_.emplace_back();
  for (std::size_t i = 0; i < static_cast<std::size_t>(runs); ++i) {
    events_[2 * i].record(stream_);
    queue_run();
    events_[2 * i + 1].record(stream_);
  }
}

void TimedDevice::take_times(int runs, std::vector<double>& times) {
  events_[2 * static_cast<std::size_t>(runs) - 1].wait();
  for (std::size_t i = 0; i < static_cast<std::size_t>(runs); ++i) {
    float ms = 0;
    IMGPIPE_CUDA(cudaEventElapsedTime(&ms, events_[2 * i].get(), events_[2 * i + 1].get()));
    times.push_back(1e3 * static_cast<double>(ms));
  }
}

std::vector<double> TimedDevice::times_of_queued(const LabOptions& options, const QueueRule& rule,
                                                 const std::function<void()>& queue_run) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  queue(rule.warm_ups, 0, queue_run);
  const std::int64_t queued_ns = (Clock::now() - start) / std::chrono::nanoseconds(1) / rule.warm_ups;
  std::vector<double> warm_ups;
  take_times(rule.warm_ups, warm_ups);
  if (rule.more_warm_ups > 0 && warm_ups.front() < rule.slow_us) {
    queue(rule.more_warm_ups, 0, queue_run);
    take_times(rule.more_warm_ups, warm_ups);
  }
  const double run_us = *std::ranges::min_element(warm_ups);
  const int runs =
      options.repeat > 0 ? options.repeat : runs_within(kQueuedBudgetUs, run_us, rule.least, rule.most);
  std::vector<double> times;
  for (int done = 0; done < runs && (done == 0 || !options.is_stopped()); done += rule.batch) {
    const int batch = std::min(rule.batch, runs - done);
    queue(batch, std::min(queued_ns, rule.max_queued_ns) * batch + 20'000, queue_run);
    take_times(batch, times);
  }
  return times;
}

}  // namespace imgpipe
