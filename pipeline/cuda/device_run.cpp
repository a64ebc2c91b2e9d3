#include "pipeline/cuda/device_run.h"

#include <utility>

#include "kernels/gray/gray.h"
#include "kernels/stage.h"
#include "pipeline/stage_calls.h"

namespace imgpipe {

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

DeviceRun::DeviceRun(Context& context, const Plan& plan, Timeline& timeline, bool keep_outputs, bool decodes,
                     std::string track)
    : context_(context),
      plan_(plan),
      times_(context, timeline, std::move(track)),
      program_(lower(plan, decodes ? kCudaDecodingTarget : kCudaTarget, {.outputs = keep_outputs})) {
  memory_.resize(program_.values.size());
  std::vector<std::byte*> scratch(program_.nodes.size());
  for (const DeviceBlock& block : device_blocks(program_)) {
    std::byte* const memory = context_.arena.take(static_cast<std::size_t>(block.bytes));
    for (const ValueId value : block.values) memory_[value] = memory;
    if (block.scratch_of) scratch[*block.scratch_of] = memory;
  }
  make_calls(scratch);
}

// Makes the nodes' calls and uploads constant tables. `scratch`: each node's scratch memory.
void DeviceRun::make_calls(const std::vector<std::byte*>& scratch) {
  const auto plane_of = [this](ValueId value, int i) { return plane(value, i); };
  const auto data_of = [this](ValueId value) { return memory_[value]; };
  for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
    calls_.push_back(stage_call<Device>(program_, program_.nodes[i], plane_of, data_of, plane_of));
    calls_.back().scratch = scratch[i];
  }
  for (ValueId i = 0; i < program_.values.size(); ++i) {
    const auto& constant = program_.values[i].constant;
    if (constant == nullptr) continue;
    IMGPIPE_CUDA(cudaMemcpyAsync(memory_[i], constant->data(), constant->size(), cudaMemcpyHostToDevice,
                                 context_.stream.get()));
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

void DeviceRun::launch(int pass) {
  std::size_t before = context_.mark();
  const CudaLaunch launch{context_.stream.get(), context_.multiprocessors};
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if (program_.nodes[i].by_decoder) continue;
    const std::string& label = plan_.steps[program_.nodes[i].step].label;
    const Range range(label);
    // A table is timed together with the node that reads it.
    if (program_.nodes[i].table_out()) {
      IMGPIPE_CUDA(static_cast<cudaError_t>(run_cuda(*program_.nodes[i].stage, calls_[i], launch)));
      ++i;
    }
    const Node& node = program_.nodes[i];
    IMGPIPE_CUDA(static_cast<cudaError_t>(run_cuda(*node.stage, calls_[i], launch)));
    const std::size_t after = context_.mark();
    times_.interval(label, SpanKind::kernel, node.bytes_moved(), pass, before, after);
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
