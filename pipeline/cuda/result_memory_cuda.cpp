// Blocks are allocated by cudaMalloc and reused by size. Consumers may have queued work on any stream when
// they drop a result, even on one that they have destroyed. So an event of the whole context is recorded
// afterwards, and the block is reused once it has completed; neither the host nor a stream waits.
//
// Recording that event would invalidate every graph that a stream of the context captures. So dropped blocks
// wait for the next call that needs memory, which cannot be part of a capture.
//
//   drop -> dropped_ -- settle(): event --> idle_ -- event completed --> reused, or freed beyond the limit
#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include <cuda.h>
#include <unistd.h>

#include "images/error.h"
#include "pipeline/cuda/cuda_api.h"
#include "pipeline/device.h"
#include "pipeline/error_of.h"
#include "pipeline/result_memory.h"

namespace imgpipe {
namespace {

// Drivers allocate at least this much.
constexpr std::size_t kBlockUnit = std::size_t{2} << 20;

cudaStream_t stream_of(StreamHandle handle) {
  return handle == 0 ? cudaStreamLegacy : reinterpret_cast<cudaStream_t>(handle);
}

#if CUDART_VERSION >= 12050
// Returns a function of the driver, which is not linked; nullptr if it has none of this version.
template <class Function>
Function driver_function(const char* name, unsigned version) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const bool queried =
      cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found) == cudaSuccess;
  return reinterpret_cast<Function>(queried && found == cudaDriverEntryPointSuccess ? function : nullptr);
}
#endif

// Whether a stream that synchronises with the legacy default stream captures a graph. CUDA has no such
// question about other streams.
bool is_capturing() {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(cudaStreamLegacy, &status);
  if (error != cudaSuccess) (void)cudaGetLastError();
  return error == cudaErrorStreamCaptureImplicit;
}

// Lets the event complete when all work of the current context is done that is queued by now. Throws
// Error(device), if a graph is being captured always.
void record_all_work(const Event& event) {
#if CUDART_VERSION >= 12050
  static const auto record_context =
      driver_function<CUresult (*)(CUcontext, CUevent)>("cuCtxRecordEvent", 12050);
  static const auto current_context = driver_function<CUresult (*)(CUcontext*)>("cuCtxGetCurrent", 4000);
  CUcontext context = nullptr;
  if (record_context != nullptr && current_context != nullptr && current_context(&context) == CUDA_SUCCESS) {
    const CUresult recorded = record_context(context, event.get());
    if (recorded == CUDA_SUCCESS) return;
    if (recorded == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
      throw Error(ErrorKind::device, "CUDA: a stream captures a graph");
  }
#endif
  // Drivers before CUDA 12.5, or a failure.
  IMGPIPE_CUDA(cudaDeviceSynchronize());
  IMGPIPE_CUDA(cudaEventRecord(event.get(), nullptr));
}

class CudaResultMemory final : public ResultMemory {
 public:
  explicit CudaResultMemory(int device) : device_(find_cuda_device(device).index) {
    const CurrentDevice current(device_);
    IMGPIPE_CUDA(cudaFree(nullptr));  // makes the context
  }
  ~CudaResultMemory() override {
    const DeviceRestorer restorer;
    (void)cudaSetDevice(device_);
    idle_.clear();
    dropped_.clear();
  }
  CudaResultMemory(const CudaResultMemory&) = delete;
  CudaResultMemory& operator=(const CudaResultMemory&) = delete;

  [[nodiscard]] std::shared_ptr<ResultBlock> take(std::size_t bytes) override;
  [[nodiscard]] std::shared_ptr<const StreamHandle> make_stream() override {
    struct Owned {
      Stream stream;
      StreamHandle handle = reinterpret_cast<StreamHandle>(stream.get());
    };
    const CurrentDevice current(device_);
    const auto owned = std::make_shared<Owned>();
    return {owned, &owned->handle};
  }
  [[nodiscard]] bool holds(const void* data) const override {
    const CurrentDevice current(device_);
    cudaPointerAttributes about{};
    if (cudaPointerGetAttributes(&about, data) != cudaSuccess) {
      (void)cudaGetLastError();
      return false;
    }
    return about.type == cudaMemoryTypeManaged ||
           (about.type == cudaMemoryTypeDevice && about.device == device_);
  }
  void wait_for(StreamHandle stream) override {
    const CurrentDevice current(device_);
    IMGPIPE_CUDA(cudaStreamSynchronize(stream_of(stream)));
  }
  void download(const std::byte* from, std::span<std::byte> to) override {
    with_stream([&](cudaStream_t stream) {
      IMGPIPE_CUDA(cudaMemcpyAsync(to.data(), from, to.size(), cudaMemcpyDeviceToHost, stream));
    });
  }
  void clear(std::byte* memory, std::size_t bytes) override {
    with_stream([&](cudaStream_t stream) { IMGPIPE_CUDA(cudaMemsetAsync(memory, 0, bytes, stream)); });
  }
  void copy(std::span<const Copy> copies) override {
    with_stream([&](cudaStream_t stream) {
      for (const Copy& one : copies)
        IMGPIPE_CUDA(cudaMemcpyAsync(one.to, one.from, one.bytes, cudaMemcpyDeviceToDevice, stream));
    });
  }

  void limit_idle(std::size_t bytes) override {
    const CurrentDevice current(device_);
    settle();
    {
      const std::lock_guard lock(mutex_);
      idle_limit_ = bytes;
    }
    drop_surplus();
  }
  void trim() override {
    const CurrentDevice current(device_);
    wait_and_drop_all();
  }
  void settle() noexcept override;

 private:
  class Block;
  struct Idle {
    DeviceBuffer memory;
    std::shared_ptr<const Event> last_use{};  // set in idle_
  };

  // Lets `work` queue work on a stream, and waits for it.
  template <class Work>
  void with_stream(const Work& work) {
    const CurrentDevice current(device_);
    const Stream stream;
    work(stream.get());
    IMGPIPE_CUDA(cudaStreamSynchronize(stream.get()));
  }
  void give_back(std::list<Idle> block) noexcept;
  [[nodiscard]] static bool is_done(const Idle& block) {
    if (cudaEventQuery(block.last_use->get()) == cudaSuccess) return true;
    (void)cudaGetLastError();  // cudaErrorNotReady would fail the thread's next kernel launch
    return false;
  }
  // Frees blocks that no work uses, the first returned first, until idle_limit_ bytes remain. Other blocks
  // are still their consumers': waiting for them would hold up the thread that drops a result.
  void drop_surplus() {
    const std::lock_guard lock(mutex_);
    std::size_t bytes = 0;
    for (const Idle& block : idle_) bytes += is_done(block) ? block.memory.size_bytes() : 0;
    for (auto block = idle_.begin(); block != idle_.end() && bytes > idle_limit_;) {
      if (!is_done(*block)) {
        ++block;
        continue;
      }
      bytes -= block->memory.size_bytes();
      block = idle_.erase(block);
    }
  }
  // Under mutex_.
  [[nodiscard]] bool has_surplus_dropped() const {
    std::size_t bytes = 0;
    for (const Idle& block : dropped_) bytes += block.memory.size_bytes();
    return dropped_.size() > 1 && bytes > idle_limit_;
  }
  // Returns whether there were idle blocks. Waits without the lock, as give_back() must not wait.
  bool wait_and_drop_all() {
    settle();
    std::list<Idle> freed;
    {
      const std::lock_guard lock(mutex_);
      freed.swap(idle_);
    }
    for (const Idle& block : freed) (void)cudaEventSynchronize(block.last_use->get());
    return !freed.empty();
  }
  // Returns an idle block of about this size, or nullptr.
  [[nodiscard]] std::shared_ptr<ResultBlock> take_idle(std::size_t size);

  const pid_t process_ = ::getpid();
  int device_;
  mutable std::mutex mutex_;
  std::list<Idle> dropped_;  // in the order of their return, as are those of idle_
  std::list<Idle> idle_;
  std::size_t idle_limit_ = std::size_t{128} << 20;
};

class CudaResultMemory::Block final : public ResultBlock {
 public:
  Block(CudaResultMemory& owner, DeviceBuffer memory) : owner_(owner) {
    memory_.push_back({std::move(memory)});
    data_ = static_cast<std::byte*>(memory_.front().memory.data());
  }
  ~Block() override {
    if (owner_.process_ == ::getpid()) {
      owner_.give_back(std::move(memory_));
    } else {
      (void)new DeviceBuffer(std::move(memory_.front().memory));  // the parent's
    }
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

 private:
  CudaResultMemory& owner_;
  std::list<Idle> memory_;  // one, which give_back() moves without an allocation
};

std::shared_ptr<ResultBlock> CudaResultMemory::take_idle(std::size_t size) {
  const std::lock_guard lock(mutex_);
  const auto fits = [&](const Idle& block) {
    const std::size_t has = block.memory.size_bytes();
    return has >= size && has - size <= size / 4 && is_done(block);
  };
  const auto found = std::ranges::find_if(idle_, fits);
  if (found == idle_.end()) return nullptr;
  auto block = std::make_shared<Block>(*this, std::move(found->memory));
  idle_.erase(found);
  return block;
}

std::shared_ptr<ResultBlock> CudaResultMemory::take(std::size_t bytes) {
  const std::size_t size = (std::max<std::size_t>(bytes, 1) + kBlockUnit - 1) / kBlockUnit * kBlockUnit;
  const CurrentDevice current(device_);
  settle();
  std::shared_ptr<ResultBlock> block = take_idle(size);
  drop_surplus();  // not earlier: the block may be among it
  if (block) return block;
  DeviceBuffer memory;
  try {
    memory.reserve(size);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory || !wait_and_drop_all()) throw;
    memory.reserve(size);
  }
  return std::make_shared<Block>(*this, std::move(memory));
}

void CudaResultMemory::give_back(std::list<Idle> block) noexcept {
  {
    const std::lock_guard lock(mutex_);
    dropped_.splice(dropped_.end(), block);
    if (!has_surplus_dropped()) return;
  }
  settle();
  (void)error_of([this] {
    const CurrentDevice current(device_);
    drop_surplus();
  });
}

void CudaResultMemory::settle() noexcept {
  std::list<Idle> blocks;
  {
    const std::lock_guard lock(mutex_);
    blocks.swap(dropped_);
  }
  if (blocks.empty()) return;
  (void)error_of([&] {
    const CurrentDevice current(device_);
    if (is_capturing()) return;
    const auto event = std::make_shared<Event>(cudaEventDisableTiming);
    record_all_work(*event);
    for (Idle& block : blocks) block.last_use = event;
    const std::lock_guard lock(mutex_);
    idle_.splice(idle_.end(), blocks);
  });
  const std::lock_guard lock(mutex_);
  dropped_.splice(dropped_.begin(), blocks);  // those that could not be recorded wait for the next call
}

}  // namespace

std::unique_ptr<ResultMemory> make_result_memory(int device) {
  return std::make_unique<CudaResultMemory>(device);
}

}  // namespace imgpipe
