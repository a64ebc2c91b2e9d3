// The CUDA engine: one upload, the stages in device memory on one stream, one download.
//
//   calling thread   decode rows -> chunk -> decode rows -> chunk -> ...        queue stages      wait
//   stream                          upload         upload            ...  upload | stages | download
//   another thread   context (first job only)
//
// Rows are decoded into a ring of pinned chunks that go up while the next are decoded. Until the context is
// there, rows go to ordinary memory and follow through the ring. Nothing synchronises between the first
// upload and the download.
#include <algorithm>
#include <deque>
#include <future>
#include <optional>
#include <stdexcept>
#include <utility>

#include <nvtx3/nvToolsExt.h>

#include "images/error.h"
#include "pipeline/device.h"
#include "pipeline/device_cuda.h"
#include "pipeline/engine.h"

namespace imgpipe {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{8} << 20;  // a few hundred microseconds of upload
constexpr std::size_t kRingChunks = 3;
constexpr std::int64_t kPitchBytes = 128;
constexpr const char* kTrack = "cuda stream";

// An NVTX range for profilers; ends with its object.
class Range {
 public:
  explicit Range(const std::string& name) { nvtxRangePushA(name.c_str()); }
  ~Range() { nvtxRangePop(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

// Samples from one device row to the next: whole vectors of 16 pixels, then a multiple of kPitchBytes.
std::int64_t device_stride(std::int64_t width, int channels) {
  const std::int64_t row = (width + kDeviceRowPixels - 1) / kDeviceRowPixels * kDeviceRowPixels * channels;
  return (row + kPitchBytes - 1) / kPitchBytes * kPitchBytes;
}

// The planes of a frame in device memory, used again by later images.
class DeviceFrame {
 public:
  // Planes for `shape`; without alpha's when `with_alpha` is false.
  Frame<Sample, Device> reserve(const FrameShape& shape, bool with_alpha) {
    Frame<Sample, Device> frame{shape, {}};
    const bool mixed = shape.layout == Layout::interleaved;
    const int count = mixed ? 1 : shape.color_channels + (shape.alpha && with_alpha ? 1 : 0);
    const int channels = mixed ? shape.channels() : 1;
    const std::int64_t stride = device_stride(shape.width, channels);
    const std::int64_t plane_bytes = stride * shape.height;
    buffer_.reserve(static_cast<std::size_t>(plane_bytes * count));
    for (int i = 0; i < count; ++i) {
      const std::size_t at = !mixed && i == shape.color_channels ? kAlphaPlane : static_cast<std::size_t>(i);
      frame.planes[at] = {static_cast<Sample*>(buffer_.data()) + i * plane_bytes, shape.width, shape.height,
                          stride, channels};
    }
    return frame;
  }

 private:
  DeviceBuffer buffer_;
};

Frame<const Sample, Device> as_const(const Frame<Sample, Device>& frame) {
  Frame<const Sample, Device> out{frame.shape, {}};
  std::ranges::copy(frame.planes, out.planes.begin());
  return out;
}

void copy_to_device(const Plane<Sample, Device>& to, const ConstHostPlane& from, const Stream& stream) {
  const auto bytes = static_cast<std::size_t>(from.row_samples());
  IMGPIPE_CUDA(cudaMemcpy2DAsync(
      to.data, static_cast<std::size_t>(to.stride), from.data, static_cast<std::size_t>(from.stride), bytes,
      static_cast<std::size_t>(from.height), cudaMemcpyHostToDevice, stream.get()));
}

void copy_to_host(const HostPlane& to, const Plane<const Sample, Device>& from, const Stream& stream) {
  const auto bytes = static_cast<std::size_t>(to.row_samples());
  IMGPIPE_CUDA(cudaMemcpy2DAsync(to.data, static_cast<std::size_t>(to.stride), from.data,
                                 static_cast<std::size_t>(from.stride), bytes,
                                 static_cast<std::size_t>(to.height), cudaMemcpyDeviceToHost, stream.get()));
}

// What lives as long as the context.
struct Context {
  int multiprocessors = 1;
  Stream stream;
  PinnedMemory pinned;
  Event base;                 // recorded at base_ns of every job's clock
  std::vector<Event> events;  // reused; grows
  DeviceFrame source;
  std::deque<DeviceFrame> frames;       // by step
  std::deque<DeviceBuffer> histograms;  // by step
};

// Intervals between events, to become spans when the device is done.
class DeviceTimes {
 public:
  DeviceTimes(Context& context, Timeline& timeline) : context_(context), timeline_(timeline) {
    context_.base.record(context_.stream);
    context_.base.wait();
    base_ns_ = timeline_.now_ns();
  }

  // Marks the stream's present position; returns its number.
  std::size_t mark() {
    if (used_ == context_.events.size()) context_.events.emplace_back();
    context_.events[used_].record(context_.stream);
    return used_++;
  }
  void interval(std::string name, SpanKind kind, std::int64_t bytes, int pass, std::size_t first,
                std::size_t last) {
    intervals_.push_back({Span{std::move(name), kTrack, kind, 0, 0, bytes, pass}, first, last});
  }
  void wait_for(std::size_t mark) const { context_.events[mark].wait(); }

  // After everything marked has happened.
  void give_spans() {
    for (Interval& interval : intervals_) {
      interval.span.start_ns = time_of(interval.first);
      interval.span.end_ns = time_of(interval.last);
      timeline_.add(interval.span);
    }
  }

 private:
  struct Interval {
    Span span;
    std::size_t first, last;
  };

  [[nodiscard]] std::int64_t time_of(std::size_t mark) const {
    float ms = 0;
    IMGPIPE_CUDA(cudaEventElapsedTime(&ms, context_.base.get(), context_.events[mark].get()));
    return base_ns_ + static_cast<std::int64_t>(static_cast<double>(ms) * 1e6);
  }

  Context& context_;
  Timeline& timeline_;
  std::int64_t base_ns_ = 0;
  std::size_t used_ = 0;
  std::vector<Interval> intervals_;
};

// Takes decoded rows and brings them to the device. With `whole` the image is kept in pinned memory too.
class Uploader {
 public:
  Uploader(Context& context, DeviceTimes& times, const Plane<Sample, Device>& target, Timeline& timeline,
           bool whole, int pass)
      : context_(context), times_(times), target_(target), pass_(pass) {
    const auto span = timeline.span("pin", SpanKind::host);
    const std::int64_t row_bytes = target.row_samples();
    chunk_rows_ =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(kChunkBytes) / row_bytes, 1, target.height);
    if (whole) {
      whole_ = Image(target.shape(), &context.pinned);
      return;
    }
    const std::int64_t chunks = (target.height + chunk_rows_ - 1) / chunk_rows_;
    for (std::size_t i = 0; i < kRingChunks && static_cast<std::int64_t>(i) < chunks; ++i) {
      ring_.push_back({Image({target.width, chunk_rows_, target.channels}, &context.pinned), kNotUsed});
    }
  }

  [[nodiscard]] std::int64_t chunk_rows() const { return chunk_rows_; }

  // Memory for `rows` rows from `first`, free to be written.
  HostPlane next_chunk(std::int64_t first, std::int64_t rows) {
    if (!whole_.empty()) return whole_.view().rows(first, rows);
    Slot& slot = ring_[next_slot_];
    if (slot.last_mark != kNotUsed) times_.wait_for(slot.last_mark);
    return slot.image.view().rows(0, rows);
  }

  // Sends the chunk that next_chunk() gave.
  void send(const HostPlane& chunk, std::int64_t first) {
    const std::size_t start = times_.mark();
    copy_to_device(target_.rows(first, chunk.height), chunk, context_.stream);
    const std::size_t end = times_.mark();
    times_.interval("upload", SpanKind::transfer, chunk.height * chunk.row_samples(), pass_, start, end);
    if (!whole_.empty()) return;
    ring_[next_slot_].last_mark = end;
    next_slot_ = (next_slot_ + 1) % ring_.size();
  }

  // The whole image once more, for --repeat.
  void send_again(int pass) {
    const std::size_t start = times_.mark();
    copy_to_device(target_, std::as_const(whole_).view(), context_.stream);
    times_.interval("upload", SpanKind::transfer, whole_.shape().samples(), pass, start, times_.mark());
  }

  [[nodiscard]] Image take_whole() { return std::move(whole_); }

 private:
  static constexpr std::size_t kNotUsed = static_cast<std::size_t>(-1);
  struct Slot {
    Image image;
    std::size_t last_mark;
  };

  Context& context_;
  DeviceTimes& times_;
  Plane<Sample, Device> target_;
  int pass_;  // that the chunks count as
  std::int64_t chunk_rows_ = 1;
  Image whole_;
  std::vector<Slot> ring_;
  std::size_t next_slot_ = 0;
};

// The calls of a plan's steps, made once and launched as often as asked.
class DevicePlan {
 public:
  DevicePlan(Context& context, const Plan& plan, const Frame<const Sample, Device>& source)
      : context_(context), plan_(plan) {
    Frame<const Sample, Device> current = source;
    Histogram<Device> histogram;
    while (context.frames.size() < plan.steps.size()) context.frames.emplace_back();
    while (context.histograms.size() < plan.steps.size()) context.histograms.emplace_back();
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      const Step& step = plan.steps[i];
      if (writes_histogram(step.stage->writes)) {
        context.histograms[i].reserve(sizeof(std::uint64_t) * kBins *
                                      static_cast<std::size_t>(step.in.color_channels));
        histogram = {static_cast<std::uint64_t*>(context.histograms[i].data()), kBins,
                     step.out.color_channels, kBins, 1};
      }
      StageCall<Device> call{current, {}, histogram, plan.options};
      if (writes_pixels(step.stage->writes)) {
        call.out = context.frames[i].reserve(step.out, step.stage->moves_alpha);
        current = as_const(call.out);
        if (!step.stage->moves_alpha) current.planes[kAlphaPlane] = call.in.planes[kAlphaPlane];
      }
      calls_.push_back(call);
      outputs_.push_back(writes_pixels(step.stage->writes) ? current : Frame<const Sample, Device>{});
    }
    result_ = current;
  }

  void launch(DeviceTimes& times, int pass) const {
    std::size_t before = times.mark();
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const Step& step = plan_.steps[i];
      const Range range(step.label);
      IMGPIPE_CUDA(static_cast<cudaError_t>(
          step.stage->cuda(calls_[i], {context_.stream.get(), context_.multiprocessors})));
      const std::size_t after = times.mark();
      times.interval(step.label, SpanKind::kernel, bytes_moved(*step.stage, step.in, step.out), pass, before,
                     after);
      before = after;
    }
  }

  // The finished image: the only plane of the last frame.
  [[nodiscard]] const Plane<const Sample, Device>& result() const { return result_.planes[0]; }
  [[nodiscard]] const std::vector<Frame<const Sample, Device>>& outputs() const { return outputs_; }
  [[nodiscard]] const StageCall<Device>& call(std::size_t i) const { return calls_[i]; }

 private:
  Context& context_;
  const Plan& plan_;
  std::vector<StageCall<Device>> calls_;
  std::vector<Frame<const Sample, Device>> outputs_;
  Frame<const Sample, Device> result_;
};

class CudaEngine final : public Engine {
 public:
  explicit CudaEngine(int index) : index_(index) {
    started_ = Timeline::Clock::now();
    pending_ = std::async(std::launch::async, [this] { return make_context(); });
  }

  ~CudaEngine() override {
    if (pending_.valid()) pending_.wait();
    // Queued work must not outlive the memory that it uses.
    if (context_ != nullptr) (void)cudaStreamSynchronize(context_->stream.get());
  }
  CudaEngine(const CudaEngine&) = delete;
  CudaEngine& operator=(const CudaEngine&) = delete;

  [[nodiscard]] std::string_view implementation() const override { return "cuda"; }
  [[nodiscard]] std::string device_name() const override { return name_; }
  void submit(Job job) override { jobs_.push_back(std::move(job)); }

  [[nodiscard]] Outcome next() override {
    if (jobs_.empty()) throw std::logic_error("next() without a job");
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    Outcome outcome;
    outcome.plan = std::move(job.plan);
    outcome.timeline = std::move(job.timeline);
    try {
      if (broken_) std::rethrow_exception(broken_);
      run(job, outcome);
    } catch (const Error& error) {
      outcome.error = std::current_exception();
      // A context that failed may be corrupt for good: nothing more comes from it.
      if (error.kind() == ErrorKind::device) broken_ = outcome.error;
      if (error.kind() != ErrorKind::device && context_ != nullptr)
        (void)cudaStreamSynchronize(context_->stream.get());
    } catch (...) {
      outcome.error = std::current_exception();
      if (context_ != nullptr) (void)cudaStreamSynchronize(context_->stream.get());
    }
    if (outcome.error) outcome.pixels = {};
    return outcome;
  }

  [[nodiscard]] double copy_bandwidth() override {
    constexpr std::size_t kBytes = std::size_t{512} << 20;  // far past the L2 cache
    constexpr int kCopies = 7;
    if (broken_ || context_ == nullptr) return 0;
    DeviceBuffer from;
    DeviceBuffer to;
    from.reserve(kBytes);
    to.reserve(kBytes);
    std::vector<Event> marks(kCopies + 1);
    for (int i = 0; i <= kCopies; ++i) {
      if (i > 0)
        IMGPIPE_CUDA(cudaMemcpyAsync(to.data(), from.data(), kBytes, cudaMemcpyDeviceToDevice,
                                     context_->stream.get()));
      marks[static_cast<std::size_t>(i)].record(context_->stream);
    }
    marks.back().wait();
    std::vector<float> times(kCopies);
    for (std::size_t i = 0; i < kCopies; ++i)
      IMGPIPE_CUDA(cudaEventElapsedTime(&times[i], marks[i].get(), marks[i + 1].get()));
    std::ranges::sort(times);
    return 2.0 * kBytes / (static_cast<double>(times[kCopies / 2]) / 1e3);
  }

 private:
  std::unique_ptr<Context> make_context() {
    const CudaDevices found = list_cuda_devices();
    if (found.devices.empty())
      throw Error(ErrorKind::device, "cuda cannot be used: " + found.unusable_reason);
    if (index_ >= static_cast<int>(found.devices.size())) {
      throw Error(ErrorKind::device, "there is no CUDA device " + std::to_string(index_) + ", only 0.." +
                                         std::to_string(found.devices.size() - 1));
    }
    IMGPIPE_CUDA(cudaSetDevice(index_));
    auto context = std::make_unique<Context>();
    const CudaDevice& device = found.devices[static_cast<std::size_t>(index_)];
    context->multiprocessors = device.multiprocessors;
    name_ = device.name;
    context_ready_ = Timeline::Clock::now();
    return context;
  }

  [[nodiscard]] bool context_is_ready() const {
    return context_ != nullptr || pending_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  // Waits for the context; the first job that needs it reports what it cost, on a track of its own.
  Context& context(Timeline& timeline) {
    if (context_ == nullptr) {
      context_ = pending_.get();
      IMGPIPE_CUDA(cudaSetDevice(index_));  // of this thread
      timeline.add({"context", "cuda start", SpanKind::host,
                    std::max<std::int64_t>(0, timeline.ns_at(started_)), timeline.ns_at(context_ready_), 0,
                    0});
    }
    return *context_;
  }

  // Rows that are decoded before the context is there.
  static std::deque<Image> decode_early(const CudaEngine& engine, Job& job, Timeline& timeline,
                                        const Shape& shape, std::int64_t& decoded) {
    std::deque<Image> early;
    const std::int64_t rows_each = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(kChunkBytes) / (shape.width * shape.channels), 1, shape.height);
    while (decoded < shape.height && !engine.context_is_ready()) {
      const std::int64_t rows = std::min(rows_each, shape.height - decoded);
      const auto span = timeline.span("decode", SpanKind::host, rows * shape.width * shape.channels);
      early.emplace_back(Shape{shape.width, rows, shape.channels});
      job.reader->read_rows(early.back().view());
      decoded += rows;
    }
    return early;
  }

  void run(Job& job, Outcome& outcome) {
    const Range range("image");
    Timeline& timeline = outcome.timeline;
    const Shape shape = outcome.plan.input;
    std::int64_t decoded = 0;
    std::deque<Image> early = decode_early(*this, job, timeline, shape, decoded);
    Context& context = this->context(timeline);
    Frame<Sample, Device> source;
    std::optional<DevicePlan> plan;
    {
      const auto span = timeline.span("device memory", SpanKind::host);
      source = context.source.reserve(frame_shape_of(shape), true);
      plan.emplace(context, outcome.plan, as_const(source));
    }
    const bool whole = job.repeat > 0 || job.keep_source;
    DeviceTimes times(context, timeline);
    // With --repeat every pass uploads for itself; the chunks that come with decoding count as warm-up.
    Uploader uploader(context, times, source.planes[0], timeline, whole, job.repeat > 0 ? kWarmUpPass : 0);
    Image result;
    {
      const auto span = timeline.span("pin", SpanKind::host);
      result = Image(outcome.plan.output, &context.pinned);
    }
    std::int64_t sent = 0;
    for (; !early.empty(); early.pop_front()) {
      const auto span = timeline.span("staging", SpanKind::host, 2 * early.front().shape().samples());
      const ConstHostPlane rows = std::as_const(early.front()).view();
      // Early chunks have the ring's size, but for an image of one chunk.
      const HostPlane chunk = uploader.next_chunk(sent, rows.height);
      copy_pixels(rows, chunk);
      uploader.send(chunk, sent);
      sent += rows.height;
    }
    while (decoded < shape.height) {
      const std::int64_t rows = std::min(uploader.chunk_rows(), shape.height - decoded);
      const HostPlane chunk = uploader.next_chunk(decoded, rows);
      {
        const auto span = timeline.span("decode", SpanKind::host, rows * shape.width * shape.channels);
        job.reader->read_rows(chunk);
      }
      uploader.send(chunk, decoded);
      decoded += rows;
    }
    outcome.warnings = job.reader->warnings();
    job.reader.reset();
    run_passes(job, outcome, *plan, times, uploader, result);
    if (job.keep_outputs) keep_outputs(outcome, *plan);
    outcome.source = uploader.take_whole();
    if (!job.keep_source) outcome.source = Image();
    outcome.frames.emplace_back();
    outcome.frames.back().images[0] = std::move(result);
    outcome.pixels = std::as_const(outcome.frames.back().images[0]).view();
  }

  void run_passes(const Job& job, Outcome& outcome, const DevicePlan& plan, DeviceTimes& times,
                  Uploader& uploader, Image& result) {
    const int first = job.repeat > 0 ? kWarmUpPass : 0;
    const int passes = std::max(1, job.repeat);
    std::size_t last = 0;
    for (int pass = first; pass < passes; ++pass) {
      if (job.repeat > 0) uploader.send_again(pass);
      plan.launch(times, pass);
      const std::size_t before = times.mark();
      copy_to_host(result.view(), plan.result(), context_->stream);
      last = times.mark();
      times.interval("download", SpanKind::transfer, result.shape().samples(), pass, before, last);
    }
    outcome.histograms.resize(outcome.plan.steps.size());
    for (std::size_t i = 0; i < outcome.plan.steps.size(); ++i) {
      if (!writes_histogram(outcome.plan.steps[i].stage->writes)) continue;
      const Histogram<Device>& histogram = plan.call(i).histogram;
      std::vector<std::uint64_t>& counts = outcome.histograms[i];
      counts.resize(static_cast<std::size_t>(histogram.stride * histogram.height));
      IMGPIPE_CUDA(cudaMemcpyAsync(counts.data(), histogram.data, counts.size() * sizeof(std::uint64_t),
                                   cudaMemcpyDeviceToHost, context_->stream.get()));
    }
    last = times.mark();
    times.wait_for(last);
    times.give_spans();
  }

  // Every step's output, for --cpu and --keep-stages: copies of what lies in device memory.
  void keep_outputs(Outcome& outcome, const DevicePlan& plan) const {
    const auto span = outcome.timeline.span("keep", SpanKind::host);
    for (const Frame<const Sample, Device>& output : plan.outputs()) {
      outcome.frames.emplace_back();
      outcome.outputs.emplace_back();
      if (output.planes[0].empty()) continue;
      outcome.frames.back() = make_frame(output.shape);
      const Frame<Sample, Host> copy = outcome.frames.back().view();
      for (std::size_t i = 0; i < copy.planes.size(); ++i) {
        if (!copy.planes[i].empty()) copy_to_host(copy.planes[i], output.planes[i], context_->stream);
      }
      outcome.outputs.back() = std::as_const(outcome.frames.back()).view();
    }
    IMGPIPE_CUDA(cudaStreamSynchronize(context_->stream.get()));
  }

  int index_;
  Timeline::Clock::time_point started_;
  Timeline::Clock::time_point context_ready_;
  std::future<std::unique_ptr<Context>> pending_;
  std::unique_ptr<Context> context_;
  std::string name_;
  std::deque<Job> jobs_;
  std::exception_ptr broken_;
};

}  // namespace

std::unique_ptr<Engine> make_cuda_engine(int index) {
  return std::make_unique<CudaEngine>(index);
}

}  // namespace imgpipe
