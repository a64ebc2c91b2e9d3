#include "pipeline/cuda/engine_context.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "pipeline/device.h"
#include "pipeline/error_of.h"

namespace imgpipe {

EngineContext::EngineContext(int index, std::int64_t memory_bytes)
    : index_(index), memory_bytes_(memory_bytes) {
  try {
    pending_ = std::async(std::launch::async, [this] { return make(); });
  } catch (const std::system_error&) {
    // No thread could be started: the first image that needs the context creates it.
    pending_ = std::async(std::launch::deferred, [this] { return make(); });
  }
}

EngineContext::~EngineContext() {
  if (pending_.valid() && pending_.wait_for(std::chrono::seconds(0)) != std::future_status::deferred)
    (void)error_of([this] { context_ = pending_.get(); });
  if (context_ == nullptr) return;
  const DeviceRestorer restorer;
  (void)cudaSetDevice(context_->device);
  finish_queued();
  context_.reset();
}

std::unique_ptr<Context> EngineContext::make() {
  started_ = Timeline::Clock::now();
  const CudaDevice device = find_cuda_device(index_);
  pinned_.use_device(device.index);
  IMGPIPE_CUDA(cudaSetDevice(device.index));
  auto context = std::make_unique<Context>(pinned_);
  context->device = device.index;
  context->multiprocessors = device.multiprocessors;
  context->memory_bytes = memory_bytes_;
  if (memory_bytes_ > 0) context->arena.limit(static_cast<std::size_t>(memory_bytes_));
  name_ = device.name;
  ready_ = Timeline::Clock::now();
  return context;
}

bool EngineContext::is_ready() const {
  return context_ != nullptr || pending_.wait_for(std::chrono::seconds(0)) != std::future_status::timeout;
}

Context& EngineContext::wait(Timeline& timeline, std::optional<DeviceRestorer>& restorer) {
  if (context_ != nullptr) return *context_;
  try {
    restorer.emplace();  // not earlier: cudaGetDevice() waits for the driver
    context_ = pending_.get();
  } catch (...) {
    failure_ = std::current_exception();  // permanent
    throw;
  }
  IMGPIPE_CUDA(cudaSetDevice(context_->device));
  timeline.add({"context", "cuda start", SpanKind::host, std::max<std::int64_t>(0, timeline.ns_at(started_)),
                std::max<std::int64_t>(0, timeline.ns_at(ready_)), 0, 0});
  return *context_;
}

std::pmr::memory_resource& EngineContext::pinned_or_any() {
  return context_ != nullptr ? static_cast<std::pmr::memory_resource&>(pinned_)
                             : *std::pmr::new_delete_resource();
}

void EngineContext::finish_queued() const {
  if (context_ != nullptr) (void)cudaStreamSynchronize(context_->stream.get());
}

}  // namespace imgpipe
