// A CUDA device as a lane: in each slot one group of images, on a stream of its own.
//
//   slot 1   upload | decode | stages | encode | download            upload | ...
//   slot 2            upload | decode | stages | encode | download            upload | ...
//
// The copy engines and the multiprocessors are three resources; with three groups or more on their way each
// can be busy with another one. Images of a group share the launches of the codecs: a JPEG of 8 megapixels
// has too few pieces to fill the device, a thumbnail too little work for a launch.
#include <deque>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "images/error.h"
#include "pipeline/cuda/banded_run.h"
#include "pipeline/cuda/coded_group.h"
#include "pipeline/cuda/cuda_api.h"
#include "pipeline/cuda/device_run.h"
#include "pipeline/cuda/pinned_memory.h"
#include "pipeline/host/chained_run.h"
#include "pipeline/lane.h"

namespace imgpipe {
namespace {

// Takes images in bands through a device whose slots are idle.
class CudaBandEngine final : public Engine {
 public:
  CudaBandEngine(const BandedDevice& device, std::string name, Context& context, int threads)
      : device_(device), name_(std::move(name)), context_(context), threads_(threads) {}

  [[nodiscard]] std::string_view implementation() const override { return "cuda"; }
  [[nodiscard]] std::string device_name() const override { return name_; }
  [[nodiscard]] double copy_bandwidth() override { return measure_device_copy_bandwidth(context_.stream); }
  [[nodiscard]] MemoryNeed memory_need(const MemoryQuestion& question) const override {
    return chains_need(question, true);
  }

 protected:
  [[nodiscard]] int threads() const override { return threads_.count(); }
  void execute(Job& job, Outcome& outcome) override {
    const CurrentDevice current(device_.index);
    run_in_bands(device_, context_, job, outcome, threads_, {}, 0);
  }

 private:
  const BandedDevice device_;
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
  [[nodiscard]] LaneLoad most() const override { return {kGroupImages, kGroupPixels}; }
  [[nodiscard]] bool has_codecs() const override { return true; }

  void start() override {
    const CudaDevice device = find_cuda_device(index_);
    const CurrentDevice current(index_);
    pinned_->use_device(index_);
    for (std::size_t i = 0; i < count_; ++i) {
      slots_.emplace_back(*pinned_);
      slots_.back().context.multiprocessors = device.multiprocessors;
    }
    device_name_ = device.name;
  }

  void launch(std::size_t number, std::span<LaneImage* const> images) override {
    const CurrentDevice device(index_);
    Slot& slot = slots_[number];
    const Range range("images");
    try {
      queue(slot, images, name() + " slot " + std::to_string(number + 1));
    } catch (...) {
      (void)cudaStreamSynchronize(slot.context.stream.get());
      slot.clear();
      throw;
    }
  }

  void finish(std::size_t number, std::span<LaneImage* const> images) override {
    Slot& slot = slots_[number];
    const UserDeviceRestorer restorer;
    try {
      IMGPIPE_CUDA(cudaSetDevice(index_));
      slot.done.wait();
      collect(slot, images);
      for (DeviceRun& run : slot.runs) run.give_spans();
    } catch (...) {
      (void)cudaStreamSynchronize(slot.context.stream.get());
      // Whatever is in them did not come all the way.
      for (LaneImage* const image : images) give_up(*image);
      slot.clear();
      throw;
    }
    slot.clear();
  }

  void release_memory() override {
    const CurrentDevice device(index_);
    for (Slot& slot : slots_) slot.context.arena.release();
  }
  [[nodiscard]] std::unique_ptr<Engine> make_band_engine(int threads) override {
    Context& context = slots_.front().context;
    return std::make_unique<CudaBandEngine>(BandedDevice{index_, context.multiprocessors, *pinned_},
                                            device_name_, context, threads);
  }

 private:
  // Enough to fill a large device; more would only be waited for.
  static constexpr std::size_t kGroupImages = 128;
  static constexpr std::int64_t kGroupPixels = std::int64_t{64} << 20;

  struct Slot {
    explicit Slot(PinnedMemory& pinned) : context(pinned) {}
    Context context;
    // The thread that waits for it sleeps: a processor that spins is one that decodes nothing.
    Event done{cudaEventBlockingSync | cudaEventDisableTiming};
    std::deque<DeviceRun> runs;  // by image
    std::optional<CodedGroup> codecs;

    void clear() {
      codecs.reset();
      runs.clear();
    }
  };

  // From the first upload to what says how large the files are.
  void queue(Slot& slot, std::span<LaneImage* const> images, const std::string& track) {
    Context& context = slot.context;
    context.begin();
    std::vector<CodedGroup::Member> members;
    for (LaneImage* const image : images) {
      const auto decoded =
          image->coded.jpeg ? DeviceRun::Decoded::with_first_steps : DeviceRun::Decoded::on_host;
      slot.runs.emplace_back(context, image->plan, image->timeline, false, decoded, track);
      members.push_back({&image->coded, &slot.runs.back()});
    }
    slot.codecs.emplace(context, std::move(members));
    slot.codecs->prepare_decoding();
    slot.codecs->upload(0);
    for (std::size_t i = 0; i < images.size(); ++i) {
      if (images[i]->coded.jpeg) continue;
      pinned_->pin(images[i]->source.untyped_view().data);
      (void)slot.runs[i].upload(std::as_const(images[i]->source).untyped_view(), 0, 0);
    }
    slot.codecs->launch_decoding(0);
    for (DeviceRun& run : slot.runs) run.launch(0);
    slot.codecs->prepare_encoding();
    slot.codecs->launch_encoding(0);
    slot.codecs->queue_results();
    for (std::size_t i = 0; i < images.size(); ++i) {
      if (images[i]->coded.form.kind == DeviceForm::Kind::none) download(slot.runs[i], *images[i]);
    }
    slot.done.record(context.stream);
  }

  void download(DeviceRun& run, LaneImage& image) {
    image.pixels = Image(image.plan.output, pinned_.get());
    pinned_->pin(image.pixels.untyped_view().data);
    run.download(image.pixels.untyped_view(), 0);
  }

  // What could not be queued before its size was known.
  void collect(Slot& slot, std::span<LaneImage* const> images) {
    slot.codecs->judge();
    bool more = false;
    for (std::size_t i = 0; i < images.size(); ++i) {
      LaneImage& image = *images[i];
      if (!image.coded.in_order) {
        give_up(image);
      } else if (image.coded.form.kind != DeviceForm::Kind::none) {
        more = true;
        try {
          slot.codecs->collect(i);
          if (image.coded.made.parts.empty()) download(slot.runs[i], image);
        } catch (const Error& error) {
          if (error.kind() == ErrorKind::device) throw;
          image.error = error;
        }
      }
    }
    if (!more) return;
    slot.done.record(slot.context.stream);
    slot.done.wait();
    for (LaneImage* const image : images) {
      if (image->error) give_up(*image);
    }
  }

  static void give_up(LaneImage& image) {
    image.pixels = Image();
    image.coded.made = {};
  }

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
  const auto pinned = std::dynamic_pointer_cast<PinnedMemory>(memory);
  if (!pinned) throw std::logic_error("the memory of lanes is made by make_lane_memory()");
  std::vector<std::unique_ptr<Lane>> lanes;
  for (const int device : devices) lanes.push_back(std::make_unique<CudaLane>(device, slots, pinned));
  return lanes;
}

}  // namespace imgpipe
