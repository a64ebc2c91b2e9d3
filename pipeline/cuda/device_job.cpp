#include "pipeline/cuda/device_job.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "images/error.h"
#include "pipeline/cuda/banded_run.h"
#include "pipeline/cuda/device_group.h"
#include "pipeline/cuda/row_upload.h"
#include "pipeline/decode_row.h"
#include "pipeline/file_encoding.h"
#include "pipeline/owned_frame.h"

namespace imgpipe {
namespace {

Image downloaded(const ConstDeviceView& pixels, const Stream& stream) {
  Image image(pixels.shape());
  copy_to_host(image.untyped_view(), pixels, stream);
  IMGPIPE_CUDA(cudaStreamSynchronize(stream.get()));
  return image;
}

class DeviceJob {
 public:
  DeviceJob(EngineContext& engine, HostThreads& threads, Job& job, Outcome& outcome)
      : engine_(engine),
        threads_(threads),
        job_(job),
        outcome_(outcome),
        image_{.plan = outcome.plan,
               .timeline = outcome.timeline,
               .coded = coded_,
               .keep_outputs = job.keep_outputs,
               .keep_pixels = job.keep_pixels,
               .steps_apart =
                   job.repeat > 0 || job.keep_outputs || job.keep_source || outcome.plan.results.size() > 1,
               .is_pinned = true,
               .histograms = &outcome.histograms},
        passes_{job.repeat > 0 ? kWarmUpPass : 0, std::max(1, job.repeat)} {}

  void run(std::int64_t host_bytes) {
    const Range range("image");
    if (const Context* const context = engine_.get()) {
      restorer_.emplace();
      IMGPIPE_CUDA(cudaSetDevice(context->device));
    }
    request_ = {.has_steps = !outcome_.plan.steps.empty(),
                .has_scan = job_.reader->jpeg_scan() != nullptr,
                .device_bytes = whole_device_bytes(outcome_.plan, job_.keep_outputs),
                .host_bytes = host_bytes};
    Route route = choose_route(request_, {.limit = engine_.memory_bytes()});
    if (route == Route::file && !run_file()) route = Route::rows;
    if (route == Route::rows && !run_rows()) route = Route::bands;
    if (route == Route::bands) {
      Context& context = engine_.wait(outcome_.timeline, restorer_);
      return run_in_bands(context, job_, outcome_, threads_, std::move(early_));
    }
    for (Image& result : group_->results(0)) {
      outcome_.results.push_back(std::as_const(result).untyped_view());
      if (!result.empty()) outcome_.memory.push_back(std::move(result));
    }
    outcome_.pixels = outcome_.results.back();
    if (job_.keep_outputs) keep_outputs();
    if (!job_.writer) return;
    if (coded_.made.parts.empty()) {
      outcome_.file = encode_image(outcome_.pixels, *job_.writer, threads_, outcome_.timeline, job_.sink);
    } else {
      outcome_.file = file_of(coded_.made, *job_.writer, outcome_.timeline);
    }
  }

 private:
  // Returns false if the image must take the next route.
  bool run_file() {
    coded_ = coded_image_for(job_.writer.get());
    {
      const auto span = outcome_.timeline.span(kStagingRow, SpanKind::host);
      coded_.jpeg = stage_jpeg(*job_.reader, engine_.pinned_or_any());
    }
    if (!coded_.jpeg) return false;
    Context& context = engine_.wait(outcome_.timeline, restorer_);
    try {
      {
        const auto span = outcome_.timeline.span("device memory", SpanKind::host);
        group_.emplace(context, std::vector<GroupImage>{image_});
      }
      group_->queue(passes_, DeviceGroup::EncodingMemory::first);
      group_->finish();
      if (coded_.is_intact) {
        group_->record_spans();
        outcome_.warnings = job_.reader->warnings();
        if (job_.keep_source) outcome_.source = downloaded(group_->run(0).source(), context.stream);
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

  bool run_rows() {
    early_ = decode_early(*job_.reader, threads_, outcome_.timeline, engine_);
    Context& context = engine_.wait(outcome_.timeline, restorer_);
    request_.has_scan = false;
    if (choose_route(request_, context.memory()) == Route::bands) return false;
    coded_ = coded_image_for(job_.writer.get());
    try {
      const auto span = outcome_.timeline.span("device memory", SpanKind::host);
      group_.emplace(context, std::vector<GroupImage>{image_});
    } catch (const Error& error) {
      // Possible despite choose_route(): blocks exceed the need, and other processes take memory.
      if (error.kind() != ErrorKind::memory) throw;
      context.arena.release();
      return false;
    }
    // With --repeat every pass uploads again; the upload during decoding counts as warm-up.
    upload_.emplace(group_->run(0), outcome_.timeline, job_.repeat > 0 || job_.keep_source, passes_.first);
    upload_->bring_up(*job_.reader, std::move(early_), threads_, context.device);
    outcome_.warnings = job_.reader->warnings();
    const std::int64_t image_bytes =
        job_.keep_outputs ? whole_device_bytes(outcome_.plan, false) : request_.device_bytes;
    if (!can_encode(image_bytes, outcome_.plan.output.bytes(), context.memory())) coded_.form = {};
    if (job_.repeat > 0) group_->image(0).source = &upload_->whole();
    group_->queue(passes_, DeviceGroup::EncodingMemory::first);
    group_->finish();
    group_->record_spans();
    if (job_.keep_source) outcome_.source = std::move(upload_->whole());
    return true;
  }

  // Downloads every step's output, for --cpu and --keep-stages.
  void keep_outputs() {
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

  std::optional<DeviceRestorer> restorer_;
  EngineContext& engine_;
  HostThreads& threads_;
  Job& job_;
  Outcome& outcome_;
  RouteRequest request_;
  std::deque<Image> early_;  // rows decoded before a context existed
  CodedImage coded_;
  GroupImage image_;
  const Passes passes_;
  std::optional<DeviceGroup> group_;
  std::optional<RowUpload> upload_;
};

}  // namespace

void run_on_device(EngineContext& engine, HostThreads& threads, Job& job, Outcome& outcome,
                   std::int64_t host_bytes) {
  DeviceJob image(engine, threads, job, outcome);  // outlives the queued work, which uses its memory
  try {
    image.run(host_bytes);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::device) {
      engine.fail(std::current_exception());
    } else {
      engine.finish_queued();
    }
    throw;
  } catch (...) {
    engine.finish_queued();
    throw;
  }
}

}  // namespace imgpipe
