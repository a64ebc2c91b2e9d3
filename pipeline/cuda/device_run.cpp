#include "pipeline/cuda/device_run.h"

#include <algorithm>
#include <utility>

#include "kernels/gray/gray.h"
#include "kernels/stage.h"
#include "pipeline/stage_calls.h"

namespace imgpipe {
namespace {

std::size_t bytes_on_device(const Value& value) {
  return static_cast<std::size_t>(value.planes() * device_bytes(value.plane()));
}

}  // namespace

DeviceRun::DeviceRun(Context& context, const Plan& plan, Timeline& timeline, bool keep_outputs,
                     Decoded decoded, std::string track)
    : context_(context),
      plan_(plan),
      times_(context, timeline, std::move(track)),
      program_(lower(plan, FusedSteps::as_one, {.outputs = keep_outputs})),
      first_call_(decoded == Decoded::with_first_steps ? decoded_steps() : 0) {
  take_memory();
  prepare();
  make_calls();
}

void DeviceRun::take_memory() {
  memory_.resize(program_.values.size());
  // Where the decoder makes it grey, the image that the file holds is never there.
  const bool needs_source = first_call_ == 0 || program_.nodes[0].pixels_out() == nullptr;
  if (needs_source) {
    memory_[0] = take(bytes_on_device(program_.values[0]));
    source_ = plane(0, 0);
  }
  for (const std::vector<ValueId>& place : places_of(program_)) {
    std::size_t most = 0;
    for (const ValueId value : place) most = std::max(most, bytes_on_device(program_.values[value]));
    std::byte* const memory = take(most);
    for (const ValueId value : place) memory_[value] = memory;
  }
  histograms_.resize(plan_.steps.size());
  for (const Node& node : program_.nodes) {
    const auto counts = node.counts_out();
    if (!counts) continue;
    const auto bytes = static_cast<std::size_t>(program_.values[*counts].bytes());
    histograms_[node.step] = reinterpret_cast<std::uint64_t*>(take(bytes));
  }
  for (const Node& node : program_.nodes) {
    const auto bytes = static_cast<std::size_t>(finds_bytes_of(node));
    finds_.push_back(bytes > 0 ? take(bytes) : nullptr);
  }
}

// The steps' tables go up once.
void DeviceRun::prepare() {
  for (const Node& node : program_.nodes) {
    const auto& table = node.prepared;
    prepared_.push_back(table ? take(table->size()) : nullptr);
    if (!table) continue;
    IMGPIPE_CUDA(cudaMemcpyAsync(prepared_.back(), table->data(), table->size(), cudaMemcpyHostToDevice,
                                 context_.stream.get()));
  }
}

void DeviceRun::make_calls() {
  const auto plane_of = [this](ValueId value, int i) { return plane(value, i); };
  const auto counts_of = [this](std::size_t step) { return histograms_[step]; };
  for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
    calls_.push_back(stage_call<Device>(program_, program_.nodes[i], plane_of, counts_of, plane_of));
    calls_.back().prepared.data = prepared_[i];
    calls_.back().finds = finds_[i];
  }
}

DeviceView DeviceRun::plane(ValueId value, int i) const {
  const Shape shape = program_.values[value].plane();
  return {memory_[value] + i * device_bytes(shape), shape, device_stride_bytes(shape)};
}

// How many steps the last kernel of decoding does as well: gray, then the histogram of the grey image.
std::size_t DeviceRun::decoded_steps() const {
  const auto is = [this](std::size_t i, std::string_view name) {
    return i < program_.nodes.size() && program_.nodes[i].stage->name == name;
  };
  if (is_wide(plan_.input.sample)) return 0;
  if (is(0, "gray+hist")) return 1;
  const std::size_t grey = is(0, "gray") ? 1 : 0;
  const bool counts = (grey > 0 || plan_.input.channels == 1) && is(grey, "hist");
  return grey + (counts ? 1 : 0);
}

DeviceRun::DecodedTo DeviceRun::decoded_to() const {
  DecodedTo to{.pixels = source_, .grey = {}, .luma = {}, .counts = nullptr, .row = "decode"};
  for (std::size_t i = 0; i < first_call_; ++i) {
    const Node& node = program_.nodes[i];
    to.row += "+" + plan_.steps[node.step].label;
    if (node.counts_out()) to.counts = calls_[i].histogram.data;
    if (node.pixels_out() == nullptr) continue;
    to.grey = calls_[i].out.planes[0];
    to.luma = GrayParameters(node.parameters[0]).luma;
    to.pixels = {};
  }
  to.row += " (cuda)";
  return to;
}

std::size_t DeviceRun::upload(const ConstHostView& rows, std::int64_t first, int pass) {
  const std::size_t start = context_.mark();
  copy_to_device(source_.rows(first, rows.height), rows, context_.stream);
  const std::size_t end = context_.mark();
  times_.interval("upload", SpanKind::transfer, rows.bytes(), pass, start, end);
  return end;
}

void DeviceRun::launch(int pass) {
  std::size_t before = context_.mark();
  for (std::size_t i = first_call_; i < calls_.size(); ++i) {
    const Node& node = program_.nodes[i];
    const std::string& label = plan_.steps[node.step].label;
    const Range range(label);
    IMGPIPE_CUDA(static_cast<cudaError_t>(
        run_cuda(*node.stage, calls_[i], {context_.stream.get(), context_.multiprocessors})));
    const std::size_t after = context_.mark();
    times_.interval(label, SpanKind::kernel, node.bytes_moved(), pass, before, after);
    before = after;
  }
}

void DeviceRun::download(const HostView& to, int pass) {
  const std::size_t before = context_.mark();
  copy_to_host(to, plane(program_.results[0], 0), context_.stream);
  times_.interval("download", SpanKind::transfer, to.bytes(), pass, before, context_.mark());
}

void DeviceRun::download_histograms(std::vector<std::vector<std::uint64_t>>& to) const {
  to.resize(plan_.steps.size());
  for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
    if (!program_.nodes[i].counts_out()) continue;
    const Histogram<Device>& counts = calls_[i].histogram;
    std::vector<std::uint64_t>& counted = to[program_.nodes[i].step];
    counted.resize(static_cast<std::size_t>(counts.stride * counts.height));
    IMGPIPE_CUDA(cudaMemcpyAsync(counted.data(), counts.data, counted.size() * sizeof(std::uint64_t),
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
