// A CUDA device as a lane. Each slot processes a group of images on its own stream.
//
//   slot 1   upload | decode | stages | encode | download            upload | ...
//   slot 2            upload | decode | stages | encode | download            upload | ...
//
// The two copy engines and the multiprocessors are three resources; with at least three groups in progress
// all can be busy. Images of a group share the codecs' launches: a JPEG of 8 megapixels has too few segments
// to fill the device, and a thumbnail too little work for a launch.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "images/error.h"
#include "pipeline/cuda/banded_run.h"
#include "pipeline/cuda/cuda_api.h"
#include "pipeline/cuda/device_group.h"
#include "pipeline/cuda/pinned_memory.h"
#include "pipeline/host/chained_run.h"
#include "pipeline/lane.h"

namespace imgpipe {
namespace {

// Processes images in bands on a device whose slots are idle.
class CudaBandEngine final : public Engine {
 public:
  CudaBandEngine(std::string name, Context& context, int threads)
      : name_(std::move(name)), context_(context), threads_(threads) {}

  [[nodiscard]] std::string_view implementation() const override { return "cuda"; }
  [[nodiscard]] std::string device_name() const override { return name_; }
  [[nodiscard]] double copy_bandwidth() override { return measure_device_copy_bandwidth(context_.stream); }
  [[nodiscard]] MemoryNeed memory_need(const MemoryEstimateRequest& question) const override {
    return chains_need(question, true);
  }

 protected:
  [[nodiscard]] int threads() const override { return threads_.count(); }
  void execute(Job& job, Outcome& outcome) override {
    const CurrentDevice current(context_.device);
    run_in_bands(context_, job, outcome, threads_);
  }

 private:
  const std::string name_;
  Context& context_;
  HostThreads threads_;
};

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
  [[nodiscard]] LaneLoad most() const override {
    const std::int64_t share = memory_bytes_ / static_cast<std::int64_t>(count_);
    return {kGroupImages, std::min(kGroupPixels, share / kPixelBytes)};
  }
  [[nodiscard]] bool has_codecs() const override { return true; }

  void start() override {
    const CudaDevice device = find_cuda_device(index_);
    const CurrentDevice current(index_);
    pinned_->use_device(index_);
    for (std::size_t i = 0; i < count_; ++i) {
      slots_.emplace_back(*pinned_);
      slots_.back().context.device = index_;
      slots_.back().context.multiprocessors = device.multiprocessors;
      slots_.back().context.is_timed = keeps_times_;
    }
    device_name_ = device.name;
  }

  void launch(std::size_t number, std::span<LaneImage* const> images) override {
    const CurrentDevice device(index_);
    Slot& slot = slots_[number];
    const std::size_t left = left_for(slot);
    slot.context.arena.limit(left);
    if (slot.context.arena.held_bytes() > left) slot.context.arena.release();
    const Range range("images");
    try {
      const std::string track = name() + " slot " + std::to_string(number + 1);
      slot.group.emplace(slot.context, members(images, track));
      slot.group->queue();
    } catch (...) {
      (void)cudaStreamSynchronize(slot.context.stream.get());
      slot.group.reset();
      throw;
    }
  }

  void finish(std::size_t number, std::span<LaneImage* const> images) override {
    Slot& slot = slots_[number];
    const UserDeviceRestorer restorer;
    try {
      IMGPIPE_CUDA(cudaSetDevice(index_));
      const RelaxedCapture relaxed;
      slot.group->finish();
      slot.group->record_spans();
    } catch (...) {
      (void)cudaStreamSynchronize(slot.context.stream.get());
      // The downloads of these images may be incomplete.
      for (LaneImage* const image : images) image->coded.made = {};
      slot.group.reset();
      throw;
    }
    for (std::size_t i = 0; i < images.size(); ++i)
      images[i]->pixels = std::move(slot.group->results(i).back());
    slot.group.reset();
  }

  void release_memory() override {
    const CurrentDevice device(index_);
    for (Slot& slot : slots_) slot.context.arena.release();
  }
  void keep_times(bool kept) override {
    keeps_times_ = kept;
    for (Slot& slot : slots_) slot.context.is_timed = kept;
  }
  void limit_memory(std::int64_t bytes) override { memory_bytes_ = bytes; }
  [[nodiscard]] std::unique_ptr<Engine> make_band_engine(int threads) override {
    Context& context = slots_.front().context;
    context.memory_bytes = memory_bytes_ == kUnlimited ? 0 : memory_bytes_;
    return std::make_unique<CudaBandEngine>(device_name_, context, threads);
  }

 private:
  // Enough to fill a large device; more would only increase the latency.
  static constexpr std::size_t kGroupImages = 128;
  static constexpr std::int64_t kGroupPixels = std::int64_t{64} << 20;
  // The device memory that a pixel of a JPEG file takes, roughly: coefficients, planes, intermediate results.
  static constexpr std::int64_t kPixelBytes = 24;
  static constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

  struct Slot {
    explicit Slot(PinnedMemory& pinned) : context(pinned, Waiting::sleeping) {}
    Context context;
    std::optional<DeviceGroup> group;
  };

  // Returns the bytes that the slot may hold in addition to the other slots.
  [[nodiscard]] std::size_t left_for(const Slot& slot) const {
    auto left = static_cast<std::size_t>(memory_bytes_);
    for (const Slot& other : slots_) {
      if (&other != &slot) left -= std::min(left, other.context.arena.held_bytes());
    }
    return left;
  }

  static std::vector<GroupImage> members(std::span<LaneImage* const> images, const std::string& track) {
    std::vector<GroupImage> members;
    for (LaneImage* const image : images) {
      const Plan& plan = *image->plan;
      if (plan.results.size() != 1) throw std::logic_error("a lane returns one result per image");
      const bool decodes = image->coded.jpeg.has_value();
      members.push_back({.plan = plan,
                         .timeline = image->timeline,
                         .coded = image->coded,
                         .track = track,
                         .source = decodes || image->source.empty() ? nullptr : &image->source,
                         .device_source = image->device_source,
                         .device_result = image->device_result,
                         .error = &image->error});
    }
    return members;
  }

  int index_;
  std::size_t count_;
  bool keeps_times_ = true;
  std::int64_t memory_bytes_ = kUnlimited;
  std::shared_ptr<PinnedMemory> pinned_;
  std::string device_name_;
  std::deque<Slot> slots_;
};

}  // namespace

std::shared_ptr<std::pmr::memory_resource> make_lane_memory(std::int64_t idle_bytes) {
  return std::make_shared<PinnedMemory>(PinnedMemory::When::on_demand, static_cast<std::size_t>(idle_bytes));
}

void release_idle(std::pmr::memory_resource& memory) {
  if (auto* const pinned = dynamic_cast<PinnedMemory*>(&memory)) pinned->release_idle();
}

std::vector<std::unique_ptr<Lane>> make_cuda_lanes(std::span<const int> devices, std::size_t slots,
                                                   const std::shared_ptr<std::pmr::memory_resource>& memory) {
  const auto pinned = std::dynamic_pointer_cast<PinnedMemory>(memory);
  if (!pinned) throw std::logic_error("the memory of lanes is made by make_lane_memory()");
  std::vector<std::unique_ptr<Lane>> lanes;
  for (const int device : devices) lanes.push_back(std::make_unique<CudaLane>(device, slots, pinned));
  return lanes;
}

}  // namespace imgpipe
