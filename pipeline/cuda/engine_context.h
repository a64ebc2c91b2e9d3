// The context of a CUDA engine, created on another thread while the first image is decoded.
#pragma once

#include <cstdint>
#include <exception>
#include <future>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <utility>

#include "pipeline/cuda/device_times.h"

namespace imgpipe {

// Used by one thread.
class EngineContext {
 public:
  // `index`: a device, or kAnyCudaDevice. `memory_bytes`: the limit of device memory; 0: all free memory.
  EngineContext(int index, std::int64_t memory_bytes);
  ~EngineContext();
  EngineContext(const EngineContext&) = delete;
  EngineContext& operator=(const EngineContext&) = delete;

  // Returns nullptr before the first wait().
  [[nodiscard]] Context* get() const { return context_.get(); }
  // Returns whether wait() returns at once.
  [[nodiscard]] bool is_ready() const;
  // Waits for the context, and makes its device current until `restorer` ends. The first call records the
  // time of its creation on a separate track.
  Context& wait(Timeline& timeline, std::optional<DeviceRestorer>& restorer);

  [[nodiscard]] const std::string& device_name() const { return name_; }
  [[nodiscard]] std::int64_t memory_bytes() const { return memory_bytes_; }
  // Pinned memory once a context exists, ordinary memory before.
  [[nodiscard]] std::pmr::memory_resource& pinned_or_any();

  // Records a failure: a failed context may be corrupt and is not used again.
  void fail(std::exception_ptr failure) { failure_ = std::move(failure); }
  [[nodiscard]] const std::exception_ptr& failure() const { return failure_; }
  // Waits for queued work, which must not outlive the memory that it uses.
  void finish_queued() const;

 private:
  std::unique_ptr<Context> make();

  int index_;
  std::int64_t memory_bytes_;
  Timeline::Clock::time_point started_;
  Timeline::Clock::time_point ready_;
  PinnedMemory pinned_{PinnedMemory::When::at_once};
  std::future<std::unique_ptr<Context>> pending_;
  std::unique_ptr<Context> context_;
  std::string name_;
  std::exception_ptr failure_;
};

}  // namespace imgpipe
