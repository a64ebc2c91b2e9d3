#include "pipeline/cuda/device_job.h"

#include <algorithm>
#include <utility>

#include "images/error.h"
#include "pipeline/cuda/banded_run.h"
#include "pipeline/decode_row.h"
#include "pipeline/file_encoding.h"
#include "pipeline/owned_frame.h"

namespace imgpipe {
namespace {

DeviceMemory memory_of(const Context& context) {
  return {context.memory_bytes, static_cast<std::int64_t>(context.arena.held_bytes()), &free_device_bytes};
}

}  // namespace

DeviceJob::DeviceJob(EngineContext& engine, HostThreads& threads, Job& job, Outcome& outcome,
                     std::int64_t host_bytes)
    : engine_(engine),
      threads_(threads),
      job_(job),
      outcome_(outcome),
      request_{.has_steps = !outcome.plan.steps.empty(),
               .has_scan = job.reader->jpeg_scan() != nullptr,
               .device_bytes = whole_device_bytes(outcome.plan, job.keep_outputs),
               .host_bytes = host_bytes},
      passes_{job.repeat > 0 ? kWarmUpPass : 0, std::max(1, job.repeat)} {}

void DeviceJob::run() {
  const Range range("image");
  if (const Context* const context = engine_.get()) {
    restorer_.emplace();
    IMGPIPE_CUDA(cudaSetDevice(context->device));
  }
  Route route = choose_route(request_, {.limit = engine_.memory_bytes()});
  if (route == Route::file && !run_file()) route = Route::rows;
  if (route == Route::rows && !run_rows()) route = Route::bands;
  if (route != Route::bands) return end_image();
  run_in_bands(engine_.wait(outcome_.timeline, restorer_), job_, outcome_, threads_, std::move(early_));
}

bool DeviceJob::run_file() {
  coded_ = coded_image_for(job_.writer.get());
  {
    const auto span = outcome_.timeline.span(kStagingRow, SpanKind::host);
    coded_.jpeg = stage_jpeg(*job_.reader, engine_.pinned_or_any());
  }
  if (!coded_.jpeg) return false;
  Context& context = engine_.wait(outcome_.timeline, restorer_);
  try {
    // Each step has a row of its own where it is timed, or its output wanted.
    const bool apart = job_.repeat > 0 || job_.keep_outputs || job_.keep_source;
    take_memory(context, apart ? DeviceRun::Decoded::apart : DeviceRun::Decoded::with_first_steps);
    group_->prepare_encoding();
    group_->queue(passes_);
    group_->finish();
    if (coded_.in_order) {
      group_->give_spans();
      outcome_.warnings = job_.reader->warnings();
      if (job_.keep_source) outcome_.source = downloaded(group_->run(0).source());
      return true;
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory) throw;
    engine_.finish_queued();
  }
  group_.reset();
  coded_ = {};
  return false;
}

bool DeviceJob::run_rows() {
  early_ = decode_early(*job_.reader, threads_, outcome_.timeline, [this] { return engine_.is_ready(); });
  Context& context = engine_.wait(outcome_.timeline, restorer_);
  request_.has_scan = false;
  if (choose_route(request_, memory_of(context)) == Route::bands) return false;
  coded_ = coded_image_for(job_.writer.get());
  try {
    take_memory(context, DeviceRun::Decoded::on_host);
  } catch (const Error& error) {
    // Blocks are larger than what is needed, and others take some.
    if (error.kind() != ErrorKind::memory) throw;
    context.arena.release();
    return false;
  }
  // With --repeat every pass uploads for itself; the chunks that come with decoding count as warm-up.
  upload_.emplace(group_->run(0), outcome_.timeline, job_.repeat > 0 || job_.keep_source, passes_.first);
  upload_->bring_up(*job_.reader, std::move(early_), threads_, context.device);
  outcome_.warnings = job_.reader->warnings();
  const std::int64_t image_bytes =
      job_.keep_outputs ? whole_device_bytes(outcome_.plan, false) : request_.device_bytes;
  if (!can_encode(image_bytes, outcome_.plan.output.bytes(), memory_of(context))) coded_.form = {};
  if (job_.repeat > 0) group_->image(0).source = &upload_->whole();
  group_->prepare_encoding();
  group_->queue(passes_);
  group_->finish();
  group_->give_spans();
  if (job_.keep_source) outcome_.source = std::move(upload_->whole());
  return true;
}

void DeviceJob::take_memory(Context& context, DeviceRun::Decoded decoded) {
  const auto span = outcome_.timeline.span("device memory", SpanKind::host);
  group_.emplace(context, std::vector<GroupImage>{{.plan = outcome_.plan,
                                                   .timeline = outcome_.timeline,
                                                   .coded = coded_,
                                                   .decoded = decoded,
                                                   .keep_outputs = job_.keep_outputs,
                                                   .keep_pixels = job_.keep_pixels,
                                                   .times_pinning = true,
                                                   .histograms = &outcome_.histograms}});
}

// What else is wanted of the image, and its file.
void DeviceJob::end_image() {
  if (!group_->pixels(0).empty()) {
    outcome_.memory.push_back(std::move(group_->pixels(0)));
    outcome_.pixels = std::as_const(outcome_.memory.back()).untyped_view();
  }
  if (job_.keep_outputs) keep_outputs();
  if (!job_.writer) return;
  if (coded_.made.parts.empty()) {
    outcome_.file = encode_image(outcome_.pixels, *job_.writer, threads_, outcome_.timeline, job_.sink);
  } else {
    outcome_.file = file_of(coded_.made, *job_.writer, outcome_.timeline);
  }
}

// Every step's output, for --cpu and --keep-stages: copies of what lies in device memory.
void DeviceJob::keep_outputs() {
  const Context& context = group_->run(0).context();
  const auto span = outcome_.timeline.span("keep", SpanKind::host);
  for (const Frame<const std::byte, Device>& output : group_->run(0).outputs()) {
    outcome_.outputs.emplace_back();
    if (output.planes[0].empty()) continue;
    OwnedFrame frame = make_frame(output.type);
    const Frame<std::byte, Host> copy = frame.view();
    for (std::size_t i = 0; i < copy.planes.size(); ++i) {
      if (!copy.planes[i].empty()) copy_to_host(copy.planes[i], output.planes[i], context.stream);
    }
    outcome_.outputs.back() = std::as_const(frame).view();
    for (Image& image : frame.images) {
      if (!image.empty()) outcome_.memory.push_back(std::move(image));
    }
  }
  IMGPIPE_CUDA(cudaStreamSynchronize(context.stream.get()));
}

Image DeviceJob::downloaded(const ConstDeviceView& pixels) const {
  const Context& context = *engine_.get();
  Image image(pixels.shape());
  copy_to_host(image.untyped_view(), pixels, context.stream);
  IMGPIPE_CUDA(cudaStreamSynchronize(context.stream.get()));
  return image;
}

}  // namespace imgpipe
