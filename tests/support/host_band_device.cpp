#include "tests/support/host_band_device.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "images/error.h"
#include "images/image.h"
#include "kernels/stage.h"
#include "pipeline/host/chained_run.h"

namespace imgpipe::test {
namespace {

constexpr std::byte kNotWritten{0xA5};

std::int64_t padded_stride(const Shape& shape) {
  return (shape.row_bytes() + 127) / 128 * 128;
}

// Returns the host's view of the same memory.
HostView on_host(const View<std::byte, Device>& view) {
  return {view.data, view.shape(), view.stride_bytes};
}
ConstHostView on_host(const View<const std::byte, Device>& view) {
  return {view.data, view.shape(), view.stride_bytes};
}
template <class Byte>
Frame<Byte, Host> on_host(const Frame<Byte, Device>& frame) {
  Frame<Byte, Host> same{frame.type, {}};
  for (std::size_t i = 0; i < frame.planes.size(); ++i) {
    if (!frame.planes[i].empty()) same.planes[i] = on_host(frame.planes[i]);
  }
  return same;
}

StageCall<Host> on_host(const StageCall<Device>& call) {
  StageCall<Host> same{.in = on_host(call.in), .out = on_host(call.out)};
  const Histogram<Device>& counts = call.histogram;
  same.histogram = {counts.data, counts.width, counts.height, counts.stride, counts.channels};
  same.parameters = call.parameters;
  same.table = {call.table.data, call.table.bytes};
  same.in_top = call.in_top;
  same.out_top = call.out_top;
  return same;
}

// Runs a node on the host instead of the device function. Nodes that read a table use run_cpu(), because the
// reference does not read tables computed from counts.
void run(const Node& node, const StageCall<Device>& device_call) {
  const StageCall<Host> call = on_host(device_call);
  if (node.counts_out()) std::fill_n(call.histogram.data, call.histogram.stride * call.histogram.height, 0);
  if (node.stage->by_row || node.table_in()) {
    const std::int64_t rows =
        makes_pixels(*node.stage) ? call.out.planes[0].height : call.in.planes[0].height;
    run_cpu(*node.stage, call, {call.out_top, call.out_top + rows, call.in_top, call.out_top});
  } else {
    run_reference(*node.stage, call);
  }
}

}  // namespace

void* HostBandDevice::Staging::do_allocate(std::size_t bytes, std::size_t alignment) {
  void* const block = ::operator new(bytes, std::align_val_t(alignment));
  const std::lock_guard lock(mutex);
  blocks.emplace_back(static_cast<const std::byte*>(block), bytes);
  return block;
}

void HostBandDevice::Staging::do_deallocate(void* block, std::size_t, std::size_t alignment) {
  {
    const std::lock_guard lock(mutex);
    std::erase_if(blocks, [&](const auto& known) { return known.first == block; });
  }
  ::operator delete(block, std::align_val_t(alignment));
}

bool HostBandDevice::Staging::holds(const void* from, std::int64_t bytes) {
  const std::lock_guard lock(mutex);
  return std::ranges::any_of(blocks, [&](const auto& known) {
    const auto* const first = static_cast<const std::byte*>(from);
    return first >= known.first && first + bytes <= known.first + known.second;
  });
}

void HostBandDevice::fault(const std::string& what) {
  const std::lock_guard lock(mutex_);
  faults.push_back(what);
}

DeviceCapacity HostBandDevice::room() {
  return {bytes_, &padded_stride};
}

void HostBandDevice::start(const DeviceBands& bands, std::size_t slots, const BandTables& tables, int) {
  bands_ = &bands;
  ++chains;
  slots_.clear();
  slots_.resize(slots);
  max_slots = std::max(max_slots, slots);
  const std::int64_t bytes =
      bands.bytes() * static_cast<std::int64_t>(slots) + table_bytes(bands.plan(), bands.chain());
  max_bytes = std::max(max_bytes, bytes);
  if (bytes > bytes_) fault("takes " + std::to_string(bytes) + " bytes");
  const Program& program = bands.plan().program;
  copies_.assign(program.values.size(), {});
  tables_.assign(program.values.size(), nullptr);
  for (const ValueId table : tables_read_by(bands.plan(), bands.chain())) {
    copies_[table].assign(tables[table], tables[table] + program.values[table].bytes());
    tables_[table] = copies_[table].data();
  }
  for (Slot& slot : slots_) {
    slot.memory.assign(static_cast<std::size_t>(bands.bytes()), kNotWritten);
    slot.counts.resize(program.nodes.size());
  }
}

void HostBandDevice::begin(std::size_t slot_number, const BandRows& rows,
                           std::span<const ConstHostView> inputs, std::span<const HostView> outputs) {
  if (fails_at >= 0 && fails_at-- == 0) throw Error(ErrorKind::device, "failed on purpose");
  Slot& slot = slots_.at(slot_number);
  if (slot.busy) fault("a slot that is in use");
  slot.busy = true;
  slot.rows = rows;
  slot.inputs.assign(inputs.begin(), inputs.end());
  slot.outputs.assign(outputs.begin(), outputs.end());
  for (const ConstHostView& view : inputs) {
    if (!staging_.holds(view.data, (view.height - 1) * view.stride_bytes + view.row_bytes()))
      fault("goes up from other memory");
  }
  for (const HostView& view : outputs) {
    if (!staging_.holds(view.data, (view.height - 1) * view.stride_bytes + view.row_bytes()))
      fault("comes down to other memory");
  }
  if (queued_ == Queued::at_once) work_on(slot);
}

void HostBandDevice::finish(std::size_t slot_number, std::vector<Span>& spans) {
  Slot& slot = slots_.at(slot_number);
  if (!slot.busy) fault("a slot that is not in use");
  if (queued_ == Queued::on_wait) work_on(slot);
  slot.busy = false;
  ++bands_done;
  spans.push_back({"upload", "device", SpanKind::transfer, 0, 1, 1, 0});
}

const std::uint64_t* HostBandDevice::counts(std::size_t slot, std::size_t node) const {
  return slots_.at(slot).counts[node].data();
}

struct HostBandDevice::Queue {
  HostBandDevice& device;
  Slot& slot;

  void check(const View<const std::byte, Device>& view, const char* what) const {
    const std::byte* const begin = slot.memory.data();
    if (view.data < begin || view.data + view.height * view.stride_bytes > begin + slot.memory.size())
      device.fault(std::string(what) + " lies outside of the slot's memory");
  }
  void upload(const View<std::byte, Device>& to, const ConstHostView& from) const {
    check(to, "upload");
    copy_pixels(from, on_host(to));
  }
  void download(const HostView& to, const View<std::byte, Device>& from) const {
    check(from, "download");
    copy_pixels(on_host(from), to);
  }
  void launch(std::size_t node, const StageCall<Device>& call) const {
    for (const auto& plane : call.in.planes) {
      if (!plane.empty()) check(plane, "input");
    }
    for (const auto& plane : call.out.planes) {
      if (plane.empty()) continue;
      check(plane, "output");
      for (const auto& read : call.in.planes) {
        const bool apart = read.empty() || read.data + read.height * read.stride_bytes <= plane.data ||
                           plane.data + plane.height * plane.stride_bytes <= read.data;
        if (!apart) device.fault("a node writes what it reads");
      }
    }
    run(device.bands_->plan().program.nodes[node], call);
  }
  void counts(std::size_t node, const std::byte* from) const {
    const std::size_t count = counters(device.bands_->plan().program.nodes[node].out);
    slot.counts[node].assign(count, 0);
    if (from != nullptr) std::memcpy(slot.counts[node].data(), from, count * sizeof(std::uint64_t));
  }
};

void HostBandDevice::work_on(Slot& slot) {
  std::ranges::fill(slot.memory, kNotWritten);
  queue_band(*bands_, slot.memory.data(), slot.rows, tables_, slot.inputs, slot.outputs, Queue{*this, slot});
}

HostBandEngine::HostBandEngine(HostBandDevice& device, int threads) : device_(device), threads_(threads) {}

int HostBandEngine::threads() const {
  return threads_.count();
}

MemoryNeed HostBandEngine::memory_need(const MemoryEstimateRequest& question) const {
  return chains_need(question, true);
}

void HostBandEngine::execute(Job& job, Outcome& outcome) {
  run_chains(job, outcome, threads_, &device_);
}

}  // namespace imgpipe::test
