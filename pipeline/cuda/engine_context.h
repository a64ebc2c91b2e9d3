// The context of a CUDA engine: made on another thread while the first image is decoded.
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
  // `index`: of a device, or kAnyCudaDevice. `memory_bytes`: that may be taken of it; 0: what is free.
  EngineContext(int index, std::int64_t memory_bytes);
  // When all that is queued is done.
  ~EngineContext();
  EngineContext(const EngineContext&) = delete;
  EngineContext& operator=(const EngineContext&) = delete;

  // nullptr: it was not waited for yet.
  [[nodiscard]] Context* get() const { return context_.get(); }
  // Whether wait() will return at once.
  [[nodiscard]] bool is_ready() const;
  // Makes its device current until `restorer` ends. The first image that needs the context reports what it
  // cost, on a track of its own.
  Context& wait(Timeline& timeline, std::optional<DeviceRestorer>& restorer);

  [[nodiscard]] const std::string& device_name() const { return name_; }
  [[nodiscard]] std::int64_t memory_bytes() const { return memory_bytes_; }
  // Memory that is pinned as soon as there is a context.
  [[nodiscard]] std::pmr::memory_resource& pinned_or_any();

  // A context that failed may be corrupt for good: nothing more comes from it.
  void fail(std::exception_ptr failure) { failure_ = std::move(failure); }
  [[nodiscard]] const std::exception_ptr& failure() const { return failure_; }
  // Queued work must not outlive the memory that it uses.
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
