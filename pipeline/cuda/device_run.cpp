#include "pipeline/cuda/device_run.h"

#include <algorithm>
#include <utility>

#include "kernels/gray/gray.h"
#include "kernels/stage.h"
#include "pipeline/stage_calls.h"

namespace imgpipe {
namespace {

std::size_t bytes_on_device(const Buffer& buffer) {
  return static_cast<std::size_t>(buffer.planes() * device_bytes(buffer.plane()));
}

}  // namespace

DeviceRun::DeviceRun(Context& context, const Plan& plan, Timeline& timeline, bool keep_outputs,
                     Decoded decoded, std::string track)
    : context_(context),
      plan_(plan),
      times_(context, timeline, std::move(track)),
      works_(works_of(plan, FusedSteps::as_one)),
      buffers_(buffers_of(plan, works_, {.outputs = keep_outputs})),
      first_call_(decoded == Decoded::with_first_steps ? decoded_steps() : 0) {
  take_memory();
  prepare();
  make_calls();
}

void DeviceRun::take_memory() {
  memory_.resize(buffers_.size());
  // Where the decoder makes it grey, the image that the file holds is never there.
  const bool needs_source = first_call_ == 0 || !works_[0].step->stage->writes_pixels;
  if (needs_source) {
    memory_[0] = take(bytes_on_device(buffers_[0]));
    source_ = plane(0, 0);
  }
  for (const std::vector<std::size_t>& place : places_of(buffers_)) {
    std::size_t most = 0;
    for (const std::size_t buffer : place) most = std::max(most, bytes_on_device(buffers_[buffer]));
    std::byte* const memory = take(most);
    for (const std::size_t buffer : place) memory_[buffer] = memory;
  }
  histograms_.resize(plan_.steps.size());
  for (std::size_t i = 0; i < works_.size(); ++i) {
    if (!buffers_.works[i].counts_out) continue;
    const auto bytes = static_cast<std::size_t>(buffers_[*buffers_.works[i].counts_out].bytes());
    histograms_[i] = reinterpret_cast<std::uint64_t*>(take(bytes));
  }
  finds_.resize(works_.size());
  for (std::size_t i = 0; i < works_.size(); ++i) {
    const auto bytes = static_cast<std::size_t>(finds_bytes_of(*works_[i].step));
    if (bytes > 0) finds_[i] = take(bytes);
  }
}

// The steps' tables go up once.
void DeviceRun::prepare() {
  prepared_.resize(works_.size());
  for (std::size_t i = 0; i < works_.size(); ++i) {
    const auto& table = works_[i].step->prepared;
    if (!table) continue;
    prepared_[i] = take(table->size());
    IMGPIPE_CUDA(cudaMemcpyAsync(prepared_[i], table->data(), table->size(), cudaMemcpyHostToDevice,
                                 context_.stream.get()));
  }
}

void DeviceRun::make_calls() {
  const auto plane_of = [this](std::size_t buffer, int i) { return plane(buffer, i); };
  const auto counts_of = [this](std::size_t step) { return histograms_[step]; };
  for (std::size_t i = 0; i < works_.size(); ++i) {
    calls_.push_back(stage_call<Device>(works_, buffers_, i, prepared_[i], plane_of, counts_of, plane_of));
    calls_.back().finds = finds_[i];
  }
}

DeviceView DeviceRun::plane(std::size_t buffer, int i) const {
  const Shape shape = buffers_[buffer].plane();
  return {memory_[buffer] + i * device_bytes(shape), shape, device_stride_bytes(shape)};
}

// How many steps the last kernel of decoding does as well: gray, then the histogram of the grey image.
std::size_t DeviceRun::decoded_steps() const {
  const auto is = [this](std::size_t i, std::string_view name) {
    return i < works_.size() && works_[i].step->stage->name == name;
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
    const Step& step = *works_[i].step;
    to.row += "+" + step.label;
    if (step.stage->counts) to.counts = calls_[i].histogram.data;
    if (!step.stage->writes_pixels) continue;
    to.grey = calls_[i].out.planes[0];
    to.luma = GrayParameters(step.parameters).luma;
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
    const Step& step = *works_[i].step;
    const Range range(step.label);
    IMGPIPE_CUDA(static_cast<cudaError_t>(
        step.functions().cuda(calls_[i], {context_.stream.get(), context_.multiprocessors})));
    const std::size_t after = context_.mark();
    times_.interval(step.label, SpanKind::kernel, bytes_moved(*step.stage, step.in, step.out), pass, before,
                    after);
    before = after;
  }
}

void DeviceRun::download(const HostView& to, int pass) {
  const std::size_t before = context_.mark();
  copy_to_host(to, plane(buffers_.result, 0), context_.stream);
  times_.interval("download", SpanKind::transfer, to.bytes(), pass, before, context_.mark());
}

void DeviceRun::download_histograms(std::vector<std::vector<std::uint64_t>>& to) const {
  to.resize(plan_.steps.size());
  for (std::size_t i = 0; i < works_.size(); ++i) {
    if (!buffers_.works[i].counts_out) continue;
    const Histogram<Device>& counts = calls_[i].histogram;
    to[i].resize(static_cast<std::size_t>(counts.stride * counts.height));
    IMGPIPE_CUDA(cudaMemcpyAsync(to[i].data(), counts.data, to[i].size() * sizeof(std::uint64_t),
                                 cudaMemcpyDeviceToHost, context_.stream.get()));
  }
}

std::vector<Frame<const std::byte, Device>> DeviceRun::outputs() const {
  std::vector<Frame<const std::byte, Device>> all(works_.size());
  const auto plane_of = [this](std::size_t buffer, int i) { return plane(buffer, i); };
  for (std::size_t i = 0; i < works_.size(); ++i) {
    const WorkBuffers& uses = buffers_.works[i];
    if (!uses.pixels_out) continue;
    all[i] = frame_of<const std::byte, Device>(buffers_, uses.pixels, uses.alpha, plane_of);
  }
  return all;
}

}  // namespace imgpipe
