#include "pipeline/cuda/device_run.h"

#include <algorithm>
#include <utility>

#include "images/rounded_up.h"
#include "kernels/gray/gray.h"
#include "kernels/stage.h"
#include "pipeline/stage_calls.h"

namespace imgpipe {
namespace {

constexpr std::size_t kTableAlignment = 256;
// Tables of this size are copied separately, and their copies kept.
constexpr std::size_t kLargeTable = std::size_t{1} << 20;

}  // namespace

std::vector<DeviceBlock> device_blocks(const Program& program) {
  const auto bytes_of = [](const Value& image) { return image.planes() * device_bytes(image.plane()); };
  std::vector<DeviceBlock> blocks;
  // If the decoder also performs gray, the colour image never exists.
  if (program.lives[0].last_read_at > 0) blocks.push_back({bytes_of(program.values[0]), {0}});
  std::vector<Tenant> tenants;
  for (ValueId i = 1; i < program.values.size(); ++i) {
    const Value& value = program.values[i];
    if (value.is_image()) tenants.push_back({i, program.lives[i], bytes_of(value)});
  }
  for (const Place& shared : place(tenants, PlaceRule::first))
    blocks.push_back({shared.bytes, shared.values});
  for (const ValueId counts : program.counts) blocks.push_back({program.values[counts].bytes(), {counts}});
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    const Node& node = program.nodes[i];
    if (const auto table = node.table_out()) blocks.push_back({program.values[*table].bytes(), {*table}});
    if (const std::int64_t bytes = scratch_bytes(*node.stage, node.in, node.parameters))
      blocks.push_back({.bytes = bytes, .scratch_of = i});
  }
  for (ValueId i = 0; i < program.values.size(); ++i) {
    if (program.values[i].constant) blocks.push_back({program.values[i].bytes(), {i}});
  }
  return blocks;
}

std::int64_t whole_device_bytes(const Plan& plan, bool keep_outputs) {
  const Program program = lower(plan, kCudaTarget, {.outputs = keep_outputs});
  std::int64_t bytes = 0;
  for (const DeviceBlock& block : device_blocks(program)) bytes += block.bytes;
  for (const ValueId counts : program.counts) bytes += program.values[counts].bytes();  // their host copies
  // Each block is aligned; a step may have two tables.
  constexpr std::int64_t kBoundary = 256;
  const auto images = std::ranges::count_if(program.values, &Value::is_image);
  return bytes + kBoundary * (images + std::ssize(program.counts) + 2 * std::ssize(plan.steps));
}

void DeviceTables::add(const ConstantTable& table) {
  copies_.try_emplace(table, nullptr);
}

void DeviceTables::upload(Context& context) {
  const auto copy = [&](std::byte* to, const std::vector<std::byte>& from) {
    IMGPIPE_CUDA(cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyHostToDevice, context.stream.get()));
  };
  for (auto& [table, on_device] : copies_) {
    if (table->size() < kLargeTable) continue;
    on_device = context.arena.kept(table);
    if (on_device != nullptr) continue;
    if (std::optional<DeviceBuffer> memory = context.arena.reserve(table->size())) {
      copy(static_cast<std::byte*>(memory->data()), *table);
      on_device = context.arena.keep(table, *std::move(memory));
    } else {
      on_device = context.arena.take(table->size());
      copy(on_device, *table);
    }
  }
  for (const auto& [table, on_device] : copies_) {
    if (on_device != nullptr) continue;
    small_.insert(small_.end(), table->begin(), table->end());
    small_.resize(rounded_up(small_.size(), kTableAlignment));
  }
  if (small_.empty()) return;
  std::byte* to = context.arena.take(small_.size());
  copy(to, small_);
  for (auto& [table, on_device] : copies_) {
    if (on_device != nullptr) continue;
    on_device = to;
    to += rounded_up(table->size(), kTableAlignment);
  }
}

DeviceProgram::DeviceProgram(const Plan& plan, bool keep_outputs, bool decodes)
    : program(lower(plan, decodes ? kCudaDecodingTarget : kCudaTarget, {.outputs = keep_outputs})),
      blocks(device_blocks(program)) {}

DeviceRun::DeviceRun(Context& context, const Plan& plan, Timeline& timeline, DeviceTables& tables,
                     bool keep_outputs, bool decodes, std::string track)
    : DeviceRun(context, plan, std::make_shared<const DeviceProgram>(plan, keep_outputs, decodes), timeline,
                tables, std::move(track)) {}

DeviceRun::DeviceRun(Context& context, const Plan& plan, std::shared_ptr<const DeviceProgram> program,
                     Timeline& timeline, DeviceTables& tables, std::string track)
    : context_(context),
      plan_(plan),
      times_(context, timeline, std::move(track)),
      device_program_(std::move(program)),
      program_(device_program_->program),
      memory_(program_.values.size()),
      scratch_(program_.nodes.size()) {
  const auto constant_of = [this](ValueId value) { return program_.values[value].constant; };
  for (const DeviceBlock& block : device_program_->blocks) {
    if (!block.values.empty() && constant_of(block.values.front()) != nullptr) {
      tables.add(constant_of(block.values.front()));
      continue;
    }
    std::byte* const memory = context_.arena.take(static_cast<std::size_t>(block.bytes));
    for (const ValueId value : block.values) memory_[value] = memory;
    if (block.scratch_of) scratch_[*block.scratch_of] = memory;
  }
}

void DeviceRun::make_calls(const DeviceTables& tables) {
  for (ValueId i = 0; i < program_.values.size(); ++i) {
    if (const ConstantTable& table = program_.values[i].constant) memory_[i] = tables.of(table);
  }
  const auto plane_of = [this](ValueId value, int i) { return plane(value, i); };
  const auto data_of = [this](ValueId value) { return memory_[value]; };
  for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
    calls_.push_back(stage_call<Device>(program_, program_.nodes[i], plane_of, data_of, plane_of));
    calls_.back().scratch = scratch_[i];
  }
}

DeviceView DeviceRun::plane(ValueId value, int i) const {
  const Shape shape = program_.values[value].plane();
  return {memory_[value] + i * device_bytes(shape), shape, device_stride_bytes(shape)};
}

DeviceRun::DecodedTo DeviceRun::decoded_to() const {
  DecodedTo to{.pixels = source(), .grey = {}, .luma = {}, .counts = nullptr, .row = "decode"};
  for (std::size_t i = 0; i < program_.nodes.size() && program_.nodes[i].by_decoder; ++i) {
    const Node& node = program_.nodes[i];
    to.row += "+" + plan_.steps[node.step].label;
    if (node.counts_out()) to.counts = calls_[i].histogram.data;
    if (node.pixels_out() == nullptr) continue;
    to.grey = calls_[i].out.planes[0];
    to.luma = GrayParameters(node.parameters).luma;
    to.pixels = {};
  }
  to.row += " (cuda)";
  return to;
}

std::size_t DeviceRun::upload(const ConstHostView& rows, std::int64_t first, int pass) {
  const std::size_t start = context_.mark();
  copy_to_device(source().rows(first, rows.height), rows, context_.stream);
  const std::size_t end = context_.mark();
  times_.interval("upload", SpanKind::transfer, rows.bytes(), pass, start, end);
  return end;
}

void DeviceRun::copy_source(const ConstDeviceView& from, int pass) {
  const std::size_t start = context_.mark();
  const DeviceView to = source();
  IMGPIPE_CUDA(cudaMemcpy2DAsync(
      to.data, static_cast<std::size_t>(to.stride_bytes), from.data,
      static_cast<std::size_t>(from.stride_bytes), static_cast<std::size_t>(to.row_bytes()),
      static_cast<std::size_t>(to.height), cudaMemcpyDeviceToDevice, context_.stream.get()));
  times_.interval("copy", SpanKind::transfer, to.bytes(), pass, start, context_.mark());
}

bool DeviceRun::matches(const DeviceRun& other) const {
  const auto alike = [](const FrameType& a, const FrameType& b) {
    return a.color_channels == b.color_channels && a.alpha == b.alpha && a.layout == b.layout &&
           a.sample == b.sample;
  };
  return std::ranges::equal(program_.nodes, other.program_.nodes, [&](const Node& a, const Node& b) {
    // Stages that cut read the parameters of each image of a group.
    return a.stage == b.stage && (a.parameters == b.parameters || a.stage->effect == Effect::cuts) &&
           a.by_decoder == b.by_decoder && alike(a.in, b.in) && alike(a.out, b.out);
  });
}

void DeviceRun::launch_node(std::span<DeviceRun* const> runs, std::size_t node) {
  const DeviceRun& first = *runs.front();
  const CudaLaunch launch{first.context_.stream.get(), first.context_.multiprocessors};
  const Node& common = first.program_.nodes[node];
  const Kernel* const kernel = find_kernel(*common.stage, Backend::cuda, common.in.sample, common.out.sample);
  if (runs.size() == 1 || kernel == nullptr || kernel->cuda_group == nullptr) {
    for (const DeviceRun* const run : runs)
      IMGPIPE_CUDA(static_cast<cudaError_t>(run_cuda(*common.stage, run->calls_[node], launch)));
    return;
  }
  std::vector<const StageCall<Device>*> calls;
  for (const DeviceRun* const run : runs) calls.push_back(&run->calls_[node]);
  IMGPIPE_CUDA(static_cast<cudaError_t>(run_cuda_group(*kernel, calls, launch)));
}

void DeviceRun::launch(std::span<DeviceRun* const> runs, int pass) {
  DeviceRun& first = *runs.front();
  std::size_t before = first.context_.mark();
  for (std::size_t i = 0; i < first.calls_.size(); ++i) {
    if (first.program_.nodes[i].by_decoder) continue;
    const std::string& label = first.plan_.steps[first.program_.nodes[i].step].label;
    const Range range(label);
    // A table is timed together with the node that reads it.
    if (first.program_.nodes[i].table_out()) launch_node(runs, i++);
    launch_node(runs, i);
    const std::size_t after = first.context_.mark();
    const auto bytes_of = [i](const DeviceRun* run) { return run->program_.nodes[i].bytes_moved(); };
    double all = 0;
    for (const DeviceRun* const run : runs) all += static_cast<double>(bytes_of(run));
    double from = 0;
    for (DeviceRun* const run : runs) {
      const double to = run == runs.back() ? 1 : from + static_cast<double>(bytes_of(run)) / all;
      run->times_.share(label, SpanKind::kernel, bytes_of(run), pass, before, after, {from, to});
      from = to;
    }
    before = after;
  }
}

void DeviceRun::download(std::size_t i, const HostView& to, int pass) {
  const std::size_t before = context_.mark();
  copy_to_host(to, result(i), context_.stream);
  times_.interval("download", SpanKind::transfer, to.bytes(), pass, before, context_.mark());
}

void DeviceRun::download_histograms(std::vector<std::vector<std::uint64_t>>& to) const {
  to.resize(plan_.steps.size());
  for (const ValueId counts : program_.counts) {
    std::vector<std::uint64_t>& counted = to[program_.step_of(counts)];
    counted.resize(counters(program_.values[counts].type));
    IMGPIPE_CUDA(cudaMemcpyAsync(counted.data(), memory_[counts], counted.size() * sizeof(std::uint64_t),
                                 cudaMemcpyDeviceToHost, context_.stream.get()));
  }
}

std::vector<Frame<const std::byte, Device>> DeviceRun::outputs() const {
  std::vector<Frame<const std::byte, Device>> all(plan_.steps.size());
  const auto plane_of = [this](ValueId value, int i) { return plane(value, i); };
  for (const Node& node : program_.nodes) {
    if (node.pixels_out() == nullptr) continue;
    all[node.step] = frame_of<const std::byte, Device>(program_, node.after, plane_of);
  }
  return all;
}

}  // namespace imgpipe
