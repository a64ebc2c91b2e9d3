// A CUDA device as a lane: in each slot one image, on a stream of its own.
//
//   slot 1   upload | stages | download            upload | stages | download
//   slot 2          upload | stages | download            upload | ...
//
// The copy engines and the multiprocessors are three resources; with three images or more on their way each
// can be busy with another one.
#include <cstdlib>
#include <deque>
#include <optional>
#include <stdexcept>
#include <utility>

#include "images/error.h"
#include "pipeline/batch/lane.h"
#include "pipeline/cuda/cuda_api.h"
#include "pipeline/cuda/device_run.h"
#include "pipeline/cuda/pinned_memory.h"

namespace imgpipe {
namespace {

class CudaLane final : public Lane {
 public:
  CudaLane(int index, std::size_t slots, std::shared_ptr<PinnedMemory> pinned)
      : index_(index), count_(slots), pinned_(std::move(pinned)) {}

  ~CudaLane() override {
    // Queued work must not outlive the memory that it uses.
    for (Slot& slot : slots_) (void)cudaStreamSynchronize(slot.context.stream.get());
  }
  CudaLane(const CudaLane&) = delete;
  CudaLane& operator=(const CudaLane&) = delete;

  [[nodiscard]] std::string name() const override { return "cuda:" + std::to_string(index_); }
  [[nodiscard]] std::string device_name() const override { return device_name_; }
  [[nodiscard]] std::size_t slots() const override { return count_; }

  void start() override {
    const CudaDevice device = find_cuda_device(index_);
    IMGPIPE_CUDA(cudaSetDevice(index_));
    pinned_->use_device(index_);
    for (std::size_t i = 0; i < count_; ++i) {
      slots_.emplace_back(*pinned_);
      slots_.back().context.multiprocessors = device.multiprocessors;
    }
    device_name_ = device.name;
  }

  void launch(std::size_t number, LaneImage& image) override {
    IMGPIPE_CUDA(cudaSetDevice(index_));
    Slot& slot = slots_[number];
    Context& context = slot.context;
    const Range range("image");
    try {
      slot.run.emplace(context, image.plan, image.timeline, false,
                       name() + " slot " + std::to_string(number + 1));
      image.pixels = Image(image.plan.output, pinned_.get());
      pinned_->pin(image.source.untyped_view().data);
      pinned_->pin(image.pixels.untyped_view().data);
      (void)slot.run->upload(std::as_const(image.source).untyped_view(), 0, 0);
      slot.run->launch(0);
      slot.run->download(image.pixels.untyped_view(), 0);
      slot.done.record(context.stream);
    } catch (...) {
      (void)cudaStreamSynchronize(context.stream.get());
      slot.run.reset();
      throw;
    }
  }

  void finish(std::size_t number, LaneImage& image) override {
    IMGPIPE_CUDA(cudaSetDevice(index_));
    Slot& slot = slots_[number];
    try {
      slot.done.wait();
      slot.run->give_spans();
    } catch (...) {
      (void)cudaStreamSynchronize(slot.context.stream.get());
      image.pixels = Image();  // whatever is in it did not come all the way
      slot.run.reset();
      throw;
    }
    slot.run.reset();
  }

  void release_memory() override {
    IMGPIPE_CUDA(cudaSetDevice(index_));
    for (Slot& slot : slots_) slot.context.release_memory();
  }

 private:
  struct Slot {
    explicit Slot(PinnedMemory& pinned) : context(pinned) {}
    Context context;
    // The thread that waits for it sleeps: a processor that spins is one that decodes nothing.
    Event done{cudaEventBlockingSync | cudaEventDisableTiming};
    std::optional<DeviceRun> run;
  };

  int index_;
  std::size_t count_;
  std::shared_ptr<PinnedMemory> pinned_;
  std::string device_name_;
  std::deque<Slot> slots_;
};

}  // namespace

std::shared_ptr<std::pmr::memory_resource> make_lane_memory(std::int64_t idle_bytes) {
  return std::make_shared<PinnedMemory>(PinnedMemory::When::on_demand, static_cast<std::size_t>(idle_bytes));
}

std::vector<std::unique_ptr<Lane>> make_cuda_lanes(std::span<const int> devices, std::size_t slots,
                                                   const std::shared_ptr<std::pmr::memory_resource>& memory) {
  // All kernels come with the context, not each with its first launch.
  ::setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  const auto pinned = std::dynamic_pointer_cast<PinnedMemory>(memory);
  if (!pinned) throw std::logic_error("the memory of lanes is made by make_lane_memory()");
  std::vector<std::unique_ptr<Lane>> lanes;
  for (const int device : devices) lanes.push_back(std::make_unique<CudaLane>(device, slots, pinned));
  return lanes;
}

}  // namespace imgpipe
