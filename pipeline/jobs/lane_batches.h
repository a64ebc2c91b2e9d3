// Decodes and processes lists of images in memory on a device, where the results stay.
//
//   threads    read, open, plan each image | allocate all results | stage a group -> lane -> wait | next
//   group ...
//
// Groups of several calls share the lanes, so that callers on different threads keep a device busy. An image
// that needs more than a lane's share of the memory waits until the whole memory is available.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/plane.h"
#include "pipeline/jobs/array_job.h"
#include "pipeline/jobs/array_plans.h"
#include "pipeline/lane.h"
#include "pipeline/threads/host_threads.h"

namespace imgpipe {

// An image of a list, and its result or error.
struct LaneBatchImage {
  ArraySource source;  // `open` is called from any thread; empty with device_pixels
  View<const std::byte, Device> device_pixels{};

  std::shared_ptr<const ArrayPlan>
      plan;                     // set before LaneBatchRequest::allocate is called; nullptr after an error
  std::byte* result = nullptr;  // set by LaneBatchRequest::allocate
  std::optional<Error> error;   // without a path
  std::vector<std::string> warnings{};  // the reader's
};

struct LaneBatchRequest {
  DecodeOptions decode;
  ArrayPlans* plans = nullptr;  // of the stages; they need not flip
  // Called once all images are planned: sets the result of each image with a plan to device memory for
  // ArrayPlan::result. Throws Error.
  std::function<void()> allocate;
  int threads = 1;  // that read, decode and stage
};

struct LaneBatchSettings {
  std::function<std::unique_ptr<Lane>()> make_lane;   // with one slot; called when a lane is first needed
  std::shared_ptr<std::pmr::memory_resource> memory;  // for sources: make_lane_memory()
  std::size_t lanes = 4;
  std::int64_t memory_bytes = 0;  // limit of the device memory that all lanes hold together, in equal shares
};

// Thread-safe.
class LaneBatches {
 public:
  explicit LaneBatches(LaneBatchSettings settings);
  ~LaneBatches();
  LaneBatches(const LaneBatches&) = delete;
  LaneBatches& operator=(const LaneBatches&) = delete;

  // Processes a list; returns when all results are complete. An image that fails has an error. Throws
  // Error(device), and the exceptions of LaneBatchRequest::allocate.
  void run(std::span<LaneBatchImage> images, const LaneBatchRequest& request);

  // Images in progress keep to the former limit.
  void limit_memory(std::int64_t bytes);
  // Frees the memory of idle lanes, and idle threads.
  void trim();

 private:
  class Run;

  [[nodiscard]] std::unique_ptr<Lane> take_lane();
  void give_back(std::unique_ptr<Lane> lane) noexcept;
  // Gives a lane the whole memory while no other lane is in use.
  void use_alone(const std::function<void(Lane&)>& work);
  [[nodiscard]] std::int64_t share() const {  // under mutex_
    return settings_.memory_bytes / static_cast<std::int64_t>(settings_.lanes);
  }
  [[nodiscard]] std::int64_t locked_share() {
    const std::lock_guard lock(mutex_);
    return share();
  }
  void release_idle_lanes();  // under mutex_
  using Threads = std::unique_ptr<HostThreads, std::function<void(HostThreads*)>>;
  // The deleter keeps the threads for a later call.
  [[nodiscard]] Threads take_threads(int count);

  LaneBatchSettings settings_;
  std::mutex mutex_;  // guards all below, and settings_.memory_bytes
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Lane>> idle_;
  std::size_t lanes_ = 0;                                          // idle or in use
  bool alone_ = false;                                             // use_alone() runs or waits
  std::multimap<int, std::unique_ptr<HostThreads>> idle_threads_;  // by the requested number
};

}  // namespace imgpipe
