// The CUDA engine: one upload, the stages in device memory on one stream, one download.
//
//   host             read the scan                                   the file's chunks
//   stream                          upload | decode | stages | encode | download
//
// So an image goes whose file a device can decode. Of all others, and where it finds damage:
//
//   host threads     decode rows -> chunk -> decode rows -> chunk -> ...        queue stages      wait
//   stream                          upload         upload            ...  upload | stages | download
//   another thread   context (first job only)
//
// Rows are decoded into a ring of pinned chunks that go up while the next are decoded: on the calling thread,
// or on all of the engine's where the reader gives bands to several (pipeline/host/chunk_reading.h). Until
// the context is there, rows go to ordinary memory and follow through the ring. Nothing synchronises between
// the first upload and the download.
#include <algorithm>
#include <deque>
#include <future>
#include <optional>
#include <system_error>
#include <utility>

#include "images/error.h"
#include "pipeline/cuda/banded_run.h"
#include "pipeline/cuda/coded_group.h"
#include "pipeline/cuda/cuda_api.h"
#include "pipeline/cuda/device_run.h"
#include "pipeline/cuda/uploader.h"
#include "pipeline/decode_row.h"
#include "pipeline/device.h"
#include "pipeline/devices/device_route.h"
#include "pipeline/engine.h"
#include "pipeline/error_of.h"
#include "pipeline/file_encoding.h"
#include "pipeline/host/chained_run.h"
#include "pipeline/host/chunk_reading.h"
#include "pipeline/owned_frame.h"

namespace imgpipe {
namespace {

class CudaEngine final : public Engine {
 public:
  CudaEngine(int index, int threads, std::int64_t memory_bytes)
      : index_(index), threads_(threads), memory_bytes_(memory_bytes), pinned_(PinnedMemory::When::at_once) {
    try {
      pending_ = std::async(std::launch::async, [this] { return make_context(); });
    } catch (const std::system_error&) {
      // No thread for it: made by the first job when it needs it.
      pending_ = std::async(std::launch::deferred, [this] { return make_context(); });
    }
  }

  ~CudaEngine() override {
    if (pending_.valid() && pending_.wait_for(std::chrono::seconds(0)) != std::future_status::deferred)
      (void)error_of([this] { context_ = pending_.get(); });
    if (context_ == nullptr) return;
    const DeviceRestorer restorer;
    (void)cudaSetDevice(index_);
    finish_queued();
    context_.reset();
  }
  CudaEngine(const CudaEngine&) = delete;
  CudaEngine& operator=(const CudaEngine&) = delete;

  [[nodiscard]] std::string_view implementation() const override { return "cuda"; }
  [[nodiscard]] std::string device_name() const override { return name_; }
  [[nodiscard]] double copy_bandwidth() override {
    if (broken_ || context_ == nullptr) return 0;
    const CurrentDevice device(index_);
    return measure_device_copy_bandwidth(context_->stream);
  }
  // Where the whole of an image is too much it goes in bands.
  [[nodiscard]] MemoryNeed memory_need(const MemoryQuestion& question) const override {
    const MemoryNeed whole = Engine::memory_need(question);
    const MemoryNeed bands = chains_need(question, true);
    return bands.with_threads(threads()) < whole.with_threads(threads()) ? bands : whole;
  }

 protected:
  [[nodiscard]] int threads() const override { return threads_.count(); }
  void execute(Job& job, Outcome& outcome) override {
    std::optional<DeviceRestorer> restorer;
    restorer_ = &restorer;
    try {
      if (broken_) std::rethrow_exception(broken_);
      if (context_ != nullptr) {
        restorer.emplace();
        IMGPIPE_CUDA(cudaSetDevice(index_));
      }
      run_image(job, outcome);
    } catch (const Error& error) {
      // A context that failed may be corrupt for good: nothing more comes from it.
      if (error.kind() == ErrorKind::device) broken_ = std::current_exception();
      if (error.kind() != ErrorKind::device) finish_queued();
      throw;
    } catch (...) {
      finish_queued();
      throw;
    }
  }

 private:
  // Queued work must not outlive the memory that it uses.
  void finish_queued() const {
    if (context_ != nullptr) (void)cudaStreamSynchronize(context_->stream.get());
  }

  std::unique_ptr<Context> make_context() {
    started_ = Timeline::Clock::now();
    const CudaDevice device = find_cuda_device(index_);
    index_ = device.index;
    pinned_.use_device(index_);
    IMGPIPE_CUDA(cudaSetDevice(index_));
    auto context = std::make_unique<Context>(pinned_);
    context->multiprocessors = device.multiprocessors;
    if (memory_bytes_ > 0) context->arena.limit(static_cast<std::size_t>(memory_bytes_));
    name_ = device.name;
    context_ready_ = Timeline::Clock::now();
    return context;
  }

  [[nodiscard]] bool context_is_ready() const {
    return context_ != nullptr || pending_.wait_for(std::chrono::seconds(0)) != std::future_status::timeout;
  }

  // Waits for the context; the first job that needs it reports what it cost, on a track of its own.
  Context& context(Timeline& timeline) {
    if (context_ == nullptr) {
      try {
        restorer_->emplace();  // not earlier: it waits for the driver
        context_ = pending_.get();
      } catch (...) {
        broken_ = std::current_exception();  // there will be none
        throw;
      }
      IMGPIPE_CUDA(cudaSetDevice(index_));
      timeline.add({"context", "cuda start", SpanKind::host,
                    std::max<std::int64_t>(0, timeline.ns_at(started_)),
                    std::max<std::int64_t>(0, timeline.ns_at(context_ready_)), 0, 0});
    }
    return *context_;
  }

  // Rows that are decoded before the context is there; `decoded`: how many.
  std::deque<Image> decode_early(Job& job, Timeline& timeline, const Shape& shape, std::int64_t& decoded) {
    std::deque<Image> early;
    const auto next = [&](std::int64_t, std::int64_t rows) {
      if (context_is_ready()) return HostView();
      early.emplace_back(Shape{shape.width, rows, shape.channels, shape.sample});
      return early.back().untyped_view();
    };
    const auto filled = [](const HostView&, std::int64_t) {};
    decoded = read_chunks(*job.reader, 0, threads_, timeline, {next, filled});
    return early;
  }

  // The rows from `first` on, each chunk on its way to the device when it is there.
  void decode_and_upload(Job& job, Timeline& timeline, Uploader& uploader, std::int64_t first) {
    const auto next = [&](std::int64_t row, std::int64_t rows) {
      IMGPIPE_CUDA(cudaSetDevice(index_));  // of this thread
      return uploader.next_chunk(row, rows);
    };
    const auto filled = [&](const HostView& chunk, std::int64_t row) {
      IMGPIPE_CUDA(cudaSetDevice(index_));
      uploader.send(chunk, row);
    };
    (void)read_chunks(*job.reader, first, threads_, timeline, {next, filled});
  }

  void run_image(Job& job, Outcome& outcome) {
    const Range range("image");
    const MemoryNeed whole = Engine::memory_need(memory_question(job, outcome.plan));
    RouteRequest request{.has_steps = !outcome.plan.steps.empty(),
                         .has_scan = job.reader->jpeg_scan() != nullptr,
                         .device_bytes = whole_device_bytes(outcome.plan, job.keep_outputs),
                         .host_bytes = whole.with_threads(threads())};
    switch (choose_route(request, {.limit = memory_bytes_})) {
      case Route::file:
        if (run_coded(job, outcome)) return;
        [[fallthrough]];
      case Route::rows:
        request.has_scan = false;
        return run_decoded(job, outcome, request);
      case Route::bands:
        return run_bands(job, outcome);
    }
  }

  [[nodiscard]] DeviceMemory memory_of(const Context& context) const {
    return {memory_bytes_, static_cast<std::int64_t>(context.arena.held_bytes()), &free_device_bytes};
  }

  // `early`: of the rows, those that are there.
  void run_bands(Job& job, Outcome& outcome, std::deque<Image> early = {}, std::int64_t decoded = 0) {
    Context& context = this->context(outcome.timeline);
    run_in_bands({index_, context.multiprocessors, pinned_, memory_bytes_}, context, job, outcome, threads_,
                 std::move(early), decoded);
  }

  // The file's bytes go up, and the device decodes. False where that is not for it: nothing was done then.
  bool run_coded(Job& job, Outcome& outcome) {
    Timeline& timeline = outcome.timeline;
    CodedImage image = coded_image_for(job.writer.get());
    {
      const auto span = timeline.span(kStagingRow, SpanKind::host);
      image.jpeg = stage_jpeg(*job.reader, pinned_or_any());
    }
    if (!image.jpeg) return false;
    Context& context = this->context(timeline);
    std::optional<DeviceRun> run;
    std::optional<CodedGroup> codecs;
    try {
      // Each step has a row of its own where it is timed, or its output wanted.
      const bool apart = job.repeat > 0 || job.keep_outputs || job.keep_source;
      {
        const auto span = timeline.span("device memory", SpanKind::host);
        context.begin();
        run.emplace(context, outcome.plan, timeline, job.keep_outputs,
                    apart ? DeviceRun::Decoded::apart : DeviceRun::Decoded::with_first_steps);
        codecs.emplace(context, std::vector<CodedGroup::Member>{{&image, &*run}});
        codecs->prepare_decoding();
      }
      if (!run_passes(job, outcome, {*run, *codecs, image, nullptr})) return false;
      outcome.warnings = job.reader->warnings();
      if (job.keep_source) outcome.source = downloaded(run->source());
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::memory) throw;
      finish_queued();
      drop_results(outcome);
      return false;  // rows take less
    }
    end_image(job, outcome, *run, image);
    return true;
  }

  // The host decodes, and rows go up.
  void run_decoded(Job& job, Outcome& outcome, const RouteRequest& request) {
    Timeline& timeline = outcome.timeline;
    std::int64_t decoded = 0;
    std::deque<Image> early = decode_early(job, timeline, outcome.plan.input, decoded);
    Context& context = this->context(timeline);
    std::optional<DeviceRun> resident;
    if (choose_route(request, memory_of(context)) == Route::bands ||
        !take_memory(context, job, outcome, resident)) {
      run_bands(job, outcome, std::move(early), decoded);
      return;
    }
    DeviceRun& run = *resident;
    const bool whole = job.repeat > 0 || job.keep_source;
    // With --repeat every pass uploads for itself; the chunks that come with decoding count as warm-up.
    Uploader uploader(run, context.pinned, timeline, whole, job.repeat > 0 ? kWarmUpPass : 0);
    std::int64_t sent = 0;
    while (!early.empty()) {
      const auto span = timeline.span("staging", SpanKind::host, 2 * early.front().shape().bytes());
      const Image rows =
          std::move(early.front());  // given back to the system within the span: that takes time too
      early.pop_front();
      // Early chunks have the ring's size, but for an image of one chunk.
      const HostView chunk = uploader.next_chunk(sent, rows.shape().height);
      copy_pixels(rows.untyped_view(), chunk);
      uploader.send(chunk, sent);
      sent += rows.shape().height;
    }
    decode_and_upload(job, timeline, uploader, decoded);
    outcome.warnings = job.reader->warnings();
    CodedImage image = coded_image_for(job.writer.get());
    const std::int64_t image_bytes =
        job.keep_outputs ? whole_device_bytes(outcome.plan, false) : request.device_bytes;
    if (!can_encode(image_bytes, outcome.plan.output.bytes(), memory_of(context))) image.form = {};
    CodedGroup codecs(context, {{&image, &run}});
    (void)run_passes(job, outcome, {run, codecs, image, &uploader});
    outcome.source = uploader.take_whole();
    if (!job.keep_source) outcome.source = Image();
    end_image(job, outcome, run, image);
  }

  // False where there is less room than it seemed: blocks are larger than what is needed, and others take
  // some.
  static bool take_memory(Context& context, const Job& job, Outcome& outcome, std::optional<DeviceRun>& run) {
    const auto span = outcome.timeline.span("device memory", SpanKind::host);
    try {
      context.begin();
      run.emplace(context, outcome.plan, outcome.timeline, job.keep_outputs);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::memory) throw;
      context.arena.release();
    }
    return run.has_value();
  }

  struct Resident {
    DeviceRun& run;
    CodedGroup& codecs;
    CodedImage& image;
    Uploader* uploader;  // where rows went up
  };

  // False where the device finds that what it decoded is not in order.
  bool run_passes(const Job& job, Outcome& outcome, const Resident& on_device) {
    auto& [run, codecs, image, uploader] = on_device;
    const int first = job.repeat > 0 ? kWarmUpPass : 0;
    const int passes = std::max(1, job.repeat);
    codecs.prepare_encoding();
    // Uploads, then the resident work, then downloads: each is timed against its own kind, so that no stage
    // pays for the change from the copy engine to the multiprocessors.
    for (int pass = first; pass < passes; ++pass) {
      if (uploader != nullptr && job.repeat > 0) uploader->send_again(pass);
      codecs.upload(pass);
    }
    for (int pass = first; pass < passes; ++pass) {
      codecs.launch_decoding(pass);
      run.launch(pass);
      codecs.launch_encoding(pass);
    }
    codecs.queue_results();
    const bool made = job.writer && image.form.kind != DeviceForm::Kind::none;
    if (job.keep_pixels || !made) download(outcome, run, first, passes);
    run.download_histograms(outcome.histograms);
    run.context().wait_for(run.context().mark());
    codecs.judge();
    if (!image.in_order) {
      drop_results(outcome);
      return false;
    }
    if (made) {
      codecs.collect(0, first, passes);
      if (image.made.parts.empty() && outcome.pixels.empty()) download(outcome, run, 0, 1);
      run.context().wait_for(run.context().mark());
    }
    run.give_spans();
    return true;
  }

  static void drop_results(Outcome& outcome) {
    outcome.pixels = {};
    outcome.memory.clear();
    outcome.outputs.clear();
    outcome.source = Image();
  }

  static void download(Outcome& outcome, DeviceRun& run, int first, int passes) {
    Image result;
    {
      const auto span = outcome.timeline.span("pin", SpanKind::host);
      result = Image(outcome.plan.output, &run.context().pinned);
    }
    for (int pass = first; pass < passes; ++pass) run.download(result.untyped_view(), pass);
    outcome.pixels = std::as_const(result).untyped_view();
    outcome.memory.push_back(std::move(result));
  }

  // What else is wanted of the image, and its file.
  void end_image(Job& job, Outcome& outcome, const DeviceRun& run, const CodedImage& image) {
    if (job.keep_outputs) keep_outputs(outcome, run);
    if (!job.writer) return;
    if (image.made.parts.empty()) {
      outcome.file = encode_image(outcome.pixels, *job.writer, threads_, outcome.timeline, job.sink);
    } else {
      outcome.file = file_of(image.made, *job.writer, outcome.timeline);
    }
  }

  [[nodiscard]] Image downloaded(const ConstDeviceView& pixels) {
    Image image(pixels.shape());
    copy_to_host(image.untyped_view(), pixels, context_->stream);
    IMGPIPE_CUDA(cudaStreamSynchronize(context_->stream.get()));
    return image;
  }

  // While the context is being made nothing can be pinned.
  std::pmr::memory_resource& pinned_or_any() {
    return context_ != nullptr ? static_cast<std::pmr::memory_resource&>(pinned_)
                               : *std::pmr::new_delete_resource();
  }

  // Every step's output, for --cpu and --keep-stages: copies of what lies in device memory.
  void keep_outputs(Outcome& outcome, const DeviceRun& run) const {
    const auto span = outcome.timeline.span("keep", SpanKind::host);
    for (const Frame<const std::byte, Device>& output : run.outputs()) {
      outcome.outputs.emplace_back();
      if (output.planes[0].empty()) continue;
      OwnedFrame frame = make_frame(output.type);
      const Frame<std::byte, Host> copy = frame.view();
      for (std::size_t i = 0; i < copy.planes.size(); ++i) {
        if (!copy.planes[i].empty()) copy_to_host(copy.planes[i], output.planes[i], context_->stream);
      }
      outcome.outputs.back() = std::as_const(frame).view();
      for (Image& image : frame.images) {
        if (!image.empty()) outcome.memory.push_back(std::move(image));
      }
    }
    IMGPIPE_CUDA(cudaStreamSynchronize(context_->stream.get()));
  }

  int index_;  // kAnyCudaDevice until the context is there
  HostThreads threads_;
  std::int64_t memory_bytes_;
  Timeline::Clock::time_point started_;
  Timeline::Clock::time_point context_ready_;
  PinnedMemory pinned_;
  std::future<std::unique_ptr<Context>> pending_;
  std::unique_ptr<Context> context_;
  std::string name_;
  std::optional<DeviceRestorer>* restorer_ = nullptr;  // of execute()
  std::exception_ptr broken_;
};

}  // namespace

std::unique_ptr<Engine> make_cuda_engine(int index, int threads, std::int64_t memory_bytes) {
  return std::make_unique<CudaEngine>(index, threads, memory_bytes);
}

}  // namespace imgpipe
