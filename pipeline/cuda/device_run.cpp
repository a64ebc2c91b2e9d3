#include "pipeline/cuda/device_run.h"

#include <algorithm>
#include <utility>

#include "kernels/stage.h"
#include "pipeline/stage_calls.h"

namespace imgpipe {
namespace {

std::size_t bytes_on_device(const Buffer& buffer) {
  return static_cast<std::size_t>(buffer.planes() * device_bytes(buffer.plane()));
}

}  // namespace

DeviceRun::DeviceRun(Context& context, const Plan& plan, Timeline& timeline, bool keep_outputs,
                     std::string track)
    : context_(context),
      plan_(plan),
      times_(context, timeline, std::move(track)),
      works_(works_of(plan, FusedSteps::as_one)),
      buffers_(buffers_of(plan, works_, {.outputs = keep_outputs})) {
  take_memory();
  prepare();
  make_calls();
}

void DeviceRun::take_memory() {
  memory_.resize(buffers_.size());
  context_.source.reserve(bytes_on_device(buffers_[0]));
  memory_[0] = &context_.source;
  source_ = plane(0, 0);
  const std::vector<std::vector<std::size_t>> places = places_of(buffers_);
  while (context_.places.size() < places.size()) context_.places.emplace_back();
  for (std::size_t place = 0; place < places.size(); ++place) {
    std::size_t most = 0;
    for (const std::size_t buffer : places[place]) most = std::max(most, bytes_on_device(buffers_[buffer]));
    context_.places[place].reserve(most);
    for (const std::size_t buffer : places[place]) memory_[buffer] = &context_.places[place];
  }
  while (context_.histograms.size() < plan_.steps.size()) context_.histograms.emplace_back();
  for (std::size_t i = 0; i < works_.size(); ++i) {
    if (buffers_.works[i].counts_out)
      context_.histograms[i].reserve(
          static_cast<std::size_t>(buffers_[*buffers_.works[i].counts_out].bytes()));
  }
}

// The steps' tables go up once.
void DeviceRun::prepare() {
  while (context_.prepared.size() < plan_.steps.size()) context_.prepared.emplace_back();
  for (std::size_t i = 0; i < works_.size(); ++i) {
    const auto& table = works_[i].step->prepared;
    if (!table) continue;
    context_.prepared[i].reserve(table->size());
    IMGPIPE_CUDA(cudaMemcpyAsync(context_.prepared[i].data(), table->data(), table->size(),
                                 cudaMemcpyHostToDevice, context_.stream.get()));
  }
}

void DeviceRun::make_calls() {
  const auto plane_of = [this](std::size_t buffer, int i) { return plane(buffer, i); };
  const auto counts_of = [this](std::size_t step) {
    return static_cast<std::uint64_t*>(context_.histograms[step].data());
  };
  for (std::size_t i = 0; i < works_.size(); ++i) {
    calls_.push_back(
        stage_call<Device>(works_, buffers_, i, context_.prepared[i].data(), plane_of, counts_of, plane_of));
  }
}

DeviceView DeviceRun::plane(std::size_t buffer, int i) const {
  const Shape shape = buffers_[buffer].plane();
  return {static_cast<std::byte*>(memory_[buffer]->data()) + i * device_bytes(shape), shape,
          device_stride_bytes(shape)};
}

std::size_t DeviceRun::upload(const ConstHostView& rows, std::int64_t first, int pass) {
  const std::size_t start = times_.mark();
  copy_to_device(source_.rows(first, rows.height), rows, context_.stream);
  const std::size_t end = times_.mark();
  times_.interval("upload", SpanKind::transfer, rows.bytes(), pass, start, end);
  return end;
}

void DeviceRun::launch(int pass) {
  std::size_t before = times_.mark();
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const Step& step = *works_[i].step;
    const Range range(step.label);
    IMGPIPE_CUDA(static_cast<cudaError_t>(
        step.functions().cuda(calls_[i], {context_.stream.get(), context_.multiprocessors})));
    const std::size_t after = times_.mark();
    times_.interval(step.label, SpanKind::kernel, bytes_moved(*step.stage, step.in, step.out), pass, before,
                    after);
    before = after;
  }
}

void DeviceRun::download(const HostView& to, int pass) {
  const std::size_t before = times_.mark();
  copy_to_host(to, plane(buffers_.result, 0), context_.stream);
  times_.interval("download", SpanKind::transfer, to.bytes(), pass, before, times_.mark());
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
