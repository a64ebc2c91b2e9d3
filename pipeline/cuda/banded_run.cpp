#include "pipeline/cuda/banded_run.h"

#include <algorithm>
#include <memory>
#include <memory_resource>
#include <string>
#include <utility>
#include <vector>

#include "images/memory/available_memory.h"
#include "pipeline/cuda/device_memory.h"
#include "pipeline/cuda/device_run.h"
#include "pipeline/devices/band_device.h"
#include "pipeline/host/chained_run.h"

namespace imgpipe {
namespace {

// Of what is free on a device, what is left alone: tables, events, and what others take meanwhile.
constexpr std::int64_t kLeftFreeBytes = std::int64_t{64} << 20;

std::int64_t free_device_bytes() {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  IMGPIPE_CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
  return static_cast<std::int64_t>(free_bytes);
}

// Page-locked memory for any thread, whatever its device is so far.
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

// What one band on its way has for itself.
struct Slot {
  Slot(PinnedMemory& pinned, Timeline& timeline, std::size_t number, std::pmr::memory_resource* staging)
      : context(pinned),
        times(context, timeline, std::string("cuda slot ") + std::to_string(number + 1)),
        counts(staging) {}

  Context context;
  DeviceTimes times;
  // The thread that waits for it sleeps: a processor that spins is one that decodes nothing.
  Event done{cudaEventBlockingSync | cudaEventDisableTiming};
  std::byte* memory = nullptr;
  std::pmr::vector<std::uint64_t> counts;  // of the chain's nodes that count, one after the other
};

class CudaBandDevice final : public BandDevice {
 public:
  CudaBandDevice(const BandedDevice& device, Timeline& timeline)
      : device_(device), timeline_(timeline), staging_(device.pinned, device.index) {}
  ~CudaBandDevice() override { stop(); }
  CudaBandDevice(const CudaBandDevice&) = delete;
  CudaBandDevice& operator=(const CudaBandDevice&) = delete;

  [[nodiscard]] DeviceRoom room() override {
    memory_.release();
    tables_memory_.release();
    const std::int64_t free_bytes = std::max<std::int64_t>(0, free_device_bytes() - kLeftFreeBytes);
    const std::int64_t limit = device_.memory_bytes > 0 ? device_.memory_bytes : free_bytes;
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
        slots_.emplace_back(device_.pinned, timeline_, slots_.size(), &staging_);
        slots_.back().context.multiprocessors = device_.multiprocessors;
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
    IMGPIPE_CUDA(cudaSetDevice(device_.index));  // of this thread
    Slot& slot = slots_[number];
    const Range range("band");
    queue_band(*bands_, slot.memory, rows, tables_, inputs, outputs, Queue{*this, slot, rows.band});
    slot.done.record(slot.context.stream);
  }

  void finish(std::size_t number, std::vector<Span>& spans) override {
    IMGPIPE_CUDA(cudaSetDevice(device_.index));
    Slot& slot = slots_[number];
    slot.done.wait();
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

  // Where the counters of each node that counts lie among a slot's.
  void find_counters() {
    counters_ = 0;
    counters_before_.assign(bands_->plan().program.nodes.size(), 0);
    for (std::size_t i = bands_->chain().first; i < bands_->chain().end; ++i) {
      counters_before_[i] = counters_;
      if (node_of(i).counts_out()) counters_ += counters(node_of(i).out);
    }
  }

  // Each with a block of its own.
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
    // A copy may return before it has arrived, and the slots' streams do not wait for it.
    IMGPIPE_CUDA(cudaStreamSynchronize(nullptr));
  }

  // Queues on a slot's stream, with the times of what it queues.
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

  const BandedDevice device_;
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

// A reader of which some rows were read before.
class ResumedReader final : public Reader {
 public:
  // `warnings`: get the reader's at the end.
  ResumedReader(std::unique_ptr<Reader> reader, std::deque<Image> early, std::int64_t decoded,
                std::vector<std::string>& warnings)
      : reader_(std::move(reader)), early_(std::move(early)), decoded_(decoded), all_warnings_(warnings) {
    header_ = reader_->header();
  }
  ~ResumedReader() override { all_warnings_ = reader_->warnings(); }
  ResumedReader(const ResumedReader&) = delete;
  ResumedReader& operator=(const ResumedReader&) = delete;

  [[nodiscard]] bool has_bands() const noexcept override { return reader_->has_bands(); }
  [[nodiscard]] std::int64_t band_bytes(std::int64_t rows) const override {
    return reader_->band_bytes(rows);
  }
  [[nodiscard]] std::string_view decoder() const noexcept override { return reader_->decoder(); }
  [[nodiscard]] std::int64_t working_bytes(bool whole) const override {
    return reader_->working_bytes(whole);
  }
  [[nodiscard]] std::int64_t library_bytes(bool whole) const override {
    return reader_->library_bytes(whole);
  }

 protected:
  void read_next_rows(HostView rows) override {
    const std::int64_t early = copy_early(next_row_, rows);
    next_row_ += rows.height;
    if (early < rows.height) reader_->read_rows(rows.rows(early, rows.height - early));
  }
  void begin_next_band(std::int64_t first, std::int64_t rows) override {
    const std::int64_t from = std::max(first, decoded_);
    if (from < first + rows) reader_->begin_band(from, first + rows - from);
  }
  void read_begun_band(std::int64_t first, HostView rows) override {
    const std::int64_t early = copy_early(first, rows);
    if (early < rows.height) reader_->read_band(first + early, rows.rows(early, rows.height - early));
  }

 private:
  // Rows from `first` on, as far as they are there; how many. They stay: bands have rows in common.
  [[nodiscard]] std::int64_t copy_early(std::int64_t first, const HostView& rows) const {
    std::int64_t top = 0;  // of the image in early_
    std::int64_t copied = 0;
    for (const Image& image : early_) {
      const std::int64_t from = std::max(top, first);
      top += image.shape().height;
      const std::int64_t end = std::min(top, first + rows.height);
      if (from >= end) continue;
      copy_pixels(image.untyped_view().rows(from - top + image.shape().height, end - from),
                  rows.rows(from - first, end - from));
      copied += end - from;
    }
    return copied;
  }

  std::unique_ptr<Reader> reader_;
  const std::deque<Image> early_;
  const std::int64_t decoded_;
  std::vector<std::string>& all_warnings_;
  std::int64_t next_row_ = 0;
};

// Bytes that the whole of a plan takes on a device; each step's output has its own with `keep_outputs`.
std::int64_t whole_device_bytes(const Plan& plan, bool keep_outputs) {
  const Program program = lower(plan, kCudaTarget, {.outputs = keep_outputs});
  std::int64_t bytes = 0;
  for (const DeviceBlock& block : device_blocks(program, true)) bytes += block.bytes;
  for (const ValueId counts : program.counts()) bytes += program.values[counts].bytes();  // and on the host
  // Each begins on a boundary; a step may have two tables.
  constexpr std::int64_t kBoundary = 256;
  const auto images = std::ranges::count_if(program.values, &Value::is_image);
  return bytes + kBoundary * (images + std::ssize(program.counts()) + 2 * std::ssize(plan.steps));
}

// In what is free, or held to be used again.
bool has_room(const Context& context, std::int64_t bytes) {
  const auto held = static_cast<std::int64_t>(context.arena.held_bytes());
  return bytes <= held || bytes <= free_device_bytes() + held;
}

}  // namespace

bool must_go_in_bands(std::int64_t memory_bytes, const Job& job, const Plan& plan, std::int64_t host_bytes) {
  if (plan.steps.empty()) return false;
  if (memory_bytes > 0 && whole_device_bytes(plan, job.keep_outputs) > memory_bytes) return true;
  return available_memory_bytes_for(host_bytes) < host_bytes;
}

bool fits_as_a_whole(const Context& context, const Job& job, const Plan& plan) {
  return plan.steps.empty() || has_room(context, whole_device_bytes(plan, job.keep_outputs));
}

bool can_encode(const Context& context, const Plan& plan, std::int64_t memory_bytes) {
  // Of every byte: rows with their filters, how they are coded, and the file.
  constexpr std::int64_t kEncodingBytes = 8;
  const std::int64_t bytes = whole_device_bytes(plan, false) + kEncodingBytes * plan.output.bytes();
  return (memory_bytes == 0 || bytes <= memory_bytes) && has_room(context, bytes);
}

void run_in_bands(const BandedDevice& device, Context& context, Job& job, Outcome& outcome,
                  HostThreads& threads, std::deque<Image> early, std::int64_t decoded) {
  context.arena.release();
  if (decoded > 0) {
    job.reader =
        std::make_unique<ResumedReader>(std::move(job.reader), std::move(early), decoded, outcome.warnings);
  }
  CudaBandDevice bands(device, outcome.timeline);
  outcome.in_bands = true;
  run_chains(job, outcome, threads, &bands);
}

}  // namespace imgpipe
