#include "pipeline/cuda/banded_run.h"

#include <algorithm>
#include <memory>
#include <memory_resource>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/cuda/device_memory.h"
#include "pipeline/cuda/device_run.h"
#include "pipeline/devices/band_device.h"
#include "pipeline/host/chained_run.h"
#include "pipeline/host/resumed_reader.h"
#include "pipeline/stage_calls.h"

namespace imgpipe {
namespace {

// Free device memory that is not used: for tables, events, and other processes.
constexpr std::int64_t kLeftFreeBytes = std::int64_t{64} << 20;

// Page-locked memory for any thread, regardless of its current device.
class StagingMemory final : public std::pmr::memory_resource {
 public:
  StagingMemory(PinnedMemory& pinned, int device) : pinned_(pinned), device_(device) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    IMGPIPE_CUDA(cudaSetDevice(device_));
    void* const block = pinned_.allocate(bytes, alignment);
    try {
      pinned_.pin(block);
    } catch (...) {
      pinned_.deallocate(block, bytes, alignment);
      throw;
    }
    return block;
  }
  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
    pinned_.deallocate(block, bytes, alignment);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }

  PinnedMemory& pinned_;
  int device_;
};

// The stream and memory of one band in progress.
struct Slot {
  Slot(PinnedMemory& pinned, Timeline& timeline, std::size_t number, std::pmr::memory_resource* staging)
      : context(pinned, Waiting::sleeping),
        times(context, timeline, std::string("cuda slot ") + std::to_string(number + 1)),
        counts(staging) {}

  Context context;
  DeviceTimes times;
  std::byte* memory = nullptr;
  std::pmr::vector<std::uint64_t> counts;  // of the chain's nodes that count, one after the other
};

class CudaBandDevice final : public BandDevice {
 public:
  CudaBandDevice(const Context& context, Timeline& timeline)
      : context_(context), timeline_(timeline), staging_(context.pinned, context.device) {}
  ~CudaBandDevice() override { stop(); }
  CudaBandDevice(const CudaBandDevice&) = delete;
  CudaBandDevice& operator=(const CudaBandDevice&) = delete;

  [[nodiscard]] DeviceCapacity room() override {
    memory_.release();
    tables_memory_.release();
    const std::int64_t free_bytes = std::max<std::int64_t>(0, free_device_bytes() - kLeftFreeBytes);
    const std::int64_t limit = context_.memory_bytes > 0 ? context_.memory_bytes : free_bytes;
    return {std::min(limit, free_bytes), &device_stride_bytes};
  }
  [[nodiscard]] std::pmr::memory_resource* staging() override { return &staging_; }

  void start(const DeviceBands& bands, std::size_t slots, const BandTables& tables, int pass) override {
    bands_ = &bands;
    pass_ = pass;
    {
      const auto span = timeline_.span("device memory", SpanKind::host);
      memory_.reserve(static_cast<std::size_t>(bands.bytes()) * slots);
      while (slots_.size() < slots) {
        slots_.emplace_back(context_.pinned, timeline_, slots_.size(), &staging_);
        slots_.back().context.multiprocessors = context_.multiprocessors;
        slots_.back().context.begin();
      }
    }
    find_counters();
    for (std::size_t i = 0; i < slots; ++i) {
      slots_[i].memory =
          static_cast<std::byte*>(memory_.data()) + static_cast<std::int64_t>(i) * bands.bytes();
      slots_[i].counts.assign(counters_, 0);
    }
    bring(tables);
  }

  void begin(std::size_t number, const BandRows& rows, std::span<const ConstHostView> inputs,
             std::span<const HostView> outputs) override {
    IMGPIPE_CUDA(cudaSetDevice(context_.device));  // each thread has its own current device
    Slot& slot = slots_[number];
    const Range range("band");
    queue_band(*bands_, slot.memory, rows, tables_, inputs, outputs, Queue{*this, slot, rows.band});
    slot.context.mark_end();
  }

  void finish(std::size_t number, std::vector<Span>& spans) override {
    IMGPIPE_CUDA(cudaSetDevice(context_.device));
    Slot& slot = slots_[number];
    slot.context.wait_for_end();
    for (Span& span : slot.times.take_spans()) spans.push_back(std::move(span));
    slot.context.used_events = 0;
  }

  [[nodiscard]] const std::uint64_t* counts(std::size_t number, std::size_t node) const override {
    return slots_[number].counts.data() + counters_before_[node];
  }

  void stop() noexcept override {
    for (Slot& slot : slots_) (void)cudaStreamSynchronize(slot.context.stream.get());
  }

 private:
  [[nodiscard]] const Node& node_of(std::size_t i) const { return bands_->plan().program.nodes[i]; }

  // Determines the offset of each node's counters in a slot's memory.
  void find_counters() {
    counters_ = 0;
    counters_before_.assign(bands_->plan().program.nodes.size(), 0);
    for (std::size_t i = bands_->chain().first; i < bands_->chain().end; ++i) {
      counters_before_[i] = counters_;
      if (node_of(i).counts_out()) counters_ += counters(node_of(i).out);
    }
  }

  void bring(const BandTables& tables) {
    const Program& program = bands_->plan().program;
    tables_.assign(program.values.size(), nullptr);
    const std::int64_t all_bytes = table_bytes(bands_->plan(), bands_->chain());
    if (all_bytes == 0) return;
    tables_memory_.reserve(static_cast<std::size_t>(all_bytes));
    auto* to = static_cast<std::byte*>(tables_memory_.data());
    for (const ValueId table : tables_read_by(bands_->plan(), bands_->chain())) {
      const std::int64_t bytes = program.values[table].bytes();
      IMGPIPE_CUDA(cudaMemcpy(to, tables[table], static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice));
      tables_[table] = to;
      to += table_room(bytes);
    }
    // A copy may return before it is complete, and the slots' streams do not wait for it.
    IMGPIPE_CUDA(cudaStreamSynchronize(nullptr));
  }

  // Queues work on a slot's stream and records its times.
  struct Queue {
    CudaBandDevice& device;
    Slot& slot;
    RowRange band;

    void upload(const DeviceView& to, const ConstHostView& from) const {
      timed("upload", SpanKind::transfer, from.bytes(),
            [&] { copy_to_device(to, from, slot.context.stream); });
    }
    void download(const HostView& to, const ConstDeviceView& from) const {
      timed("download", SpanKind::transfer, to.bytes(), [&] { copy_to_host(to, from, slot.context.stream); });
    }
    void launch(std::size_t i, const StageCall<Device>& call) const {
      const Node& node = device.node_of(i);
      timed(device.bands_->plan().plan.steps[node.step].label, SpanKind::kernel,
            device.bands_->bands().bytes_moved(node, band), [&] {
              IMGPIPE_CUDA(static_cast<cudaError_t>(
                  run_cuda(*node.stage, call, {slot.context.stream.get(), slot.context.multiprocessors})));
            });
    }
    void counts(std::size_t i, const std::byte* from) const {
      std::uint64_t* const to = slot.counts.data() + device.counters_before_[i];
      const std::size_t count = counters(device.node_of(i).out);
      if (from == nullptr) {
        std::fill_n(to, count, 0);
        return;
      }
      IMGPIPE_CUDA(cudaMemcpyAsync(to, from, count * sizeof(std::uint64_t), cudaMemcpyDeviceToHost,
                                   slot.context.stream.get()));
    }

    template <class Action>
    void timed(const std::string& name, SpanKind kind, std::int64_t bytes, const Action& action) const {
      const std::size_t before = slot.context.mark();
      action();
      slot.times.interval(name, kind, bytes, device.pass_, before, slot.context.mark());
    }
  };

  const Context& context_;
  Timeline& timeline_;
  StagingMemory staging_;
  DeviceBuffer memory_, tables_memory_;
  const DeviceBands* bands_ = nullptr;
  int pass_ = 0;
  BandTables tables_;
  std::vector<std::size_t> counters_before_;  // by node
  std::size_t counters_ = 0;
  std::deque<Slot> slots_;
};

}  // namespace

void run_in_bands(Context& context, Job& job, Outcome& outcome, HostThreads& threads,
                  std::deque<Image> early) {
  context.arena.release();
  if (!early.empty()) job.reader = resume_reader(std::move(job.reader), std::move(early), outcome.warnings);
  CudaBandDevice bands(context, outcome.timeline);
  outcome.in_bands = true;
  run_chains(job, outcome, threads, &bands);
}

}  // namespace imgpipe
