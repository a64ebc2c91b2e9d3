// An image's way through device memory: where it lies, how its rows come up, what is launched, when it
// happened. Only for the CUDA engine.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <nvtx3/nvToolsExt.h>

#include "pipeline/cuda/cuda_api.h"
#include "pipeline/cuda/pinned_memory.h"
#include "pipeline/engine.h"

namespace imgpipe {

inline constexpr std::size_t kChunkBytes = std::size_t{8} << 20;  // a few hundred microseconds of upload
inline constexpr std::size_t kRingChunks = 3;
inline constexpr std::int64_t kPitchBytes = 128;
// A stream's name in reports.
inline constexpr const char* kDeviceTrack = "cuda stream";

// An NVTX range for profilers; ends with its object.
class Range {
 public:
  explicit Range(const std::string& name) { nvtxRangePushA(name.c_str()); }
  ~Range() { nvtxRangePop(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

// Samples from one device row to the next: whole vectors of 16 pixels, then a multiple of kPitchBytes.
inline std::int64_t device_stride(std::int64_t width, int channels) {
  const std::int64_t row = (width + kDeviceRowPixels - 1) / kDeviceRowPixels * kDeviceRowPixels * channels;
  return (row + kPitchBytes - 1) / kPitchBytes * kPitchBytes;
}

// The planes of a frame in device memory, used again by later images.
class DeviceFrame {
 public:
  // Bytes of the planes for `shape`; without alpha's when `with_alpha` is false.
  static std::size_t bytes(const FrameType& shape, bool with_alpha) {
    return static_cast<std::size_t>(plane_bytes(shape) * planes(shape, with_alpha));
  }

  // The planes, in memory that grows where it has to: what an earlier call gave is then gone.
  Frame<std::byte, Device> reserve(const FrameType& shape, bool with_alpha) {
    Frame<std::byte, Device> frame{shape, {}};
    const bool mixed = shape.layout == Layout::interleaved;
    const int channels = mixed ? shape.channels() : 1;
    buffer_.reserve(bytes(shape, with_alpha));
    for (int i = 0; i < planes(shape, with_alpha); ++i) {
      const std::size_t at = !mixed && i == shape.color_channels ? kAlphaPlane : static_cast<std::size_t>(i);
      frame.planes[at] = {static_cast<Sample*>(buffer_.data()) + i * plane_bytes(shape), shape.width,
                          shape.height, device_stride(shape.width, channels), channels};
    }
    return frame;
  }
  void reserve_bytes(std::size_t bytes) { buffer_.reserve(bytes); }
  void release() noexcept { buffer_.release(); }

 private:
  static int planes(const FrameType& shape, bool with_alpha) {
    if (shape.layout == Layout::interleaved) return 1;
    return shape.color_channels + (shape.alpha && with_alpha ? 1 : 0);
  }
  static std::int64_t plane_bytes(const FrameType& shape) {
    const int channels = shape.layout == Layout::interleaved ? shape.channels() : 1;
    return device_stride(shape.width, channels) * shape.height;
  }

  DeviceBuffer buffer_;
};

inline Frame<const std::byte, Device> as_const(const Frame<std::byte, Device>& frame) {
  Frame<const std::byte, Device> out{frame.shape, {}};
  std::ranges::copy(frame.planes, out.planes.begin());
  return out;
}

inline void copy_to_device(const Plane<Sample, Device>& to, const ConstHostPlane& from,
                           const Stream& stream) {
  const auto bytes = static_cast<std::size_t>(from.row_samples());
  IMGPIPE_CUDA(cudaMemcpy2DAsync(
      to.data, static_cast<std::size_t>(to.stride), from.data, static_cast<std::size_t>(from.stride), bytes,
      static_cast<std::size_t>(from.height), cudaMemcpyHostToDevice, stream.get()));
}

inline void copy_to_host(const HostPlane& to, const Plane<const Sample, Device>& from, const Stream& stream) {
  const auto bytes = static_cast<std::size_t>(to.row_samples());
  IMGPIPE_CUDA(cudaMemcpy2DAsync(to.data, static_cast<std::size_t>(to.stride), from.data,
                                 static_cast<std::size_t>(from.stride), bytes,
                                 static_cast<std::size_t>(to.height), cudaMemcpyDeviceToHost, stream.get()));
}

// A stream with what its images need, one after the other.
struct Context {
  explicit Context(PinnedMemory& pinned_memory) : pinned(pinned_memory) {}

  int multiprocessors = 1;
  Stream stream;
  PinnedMemory& pinned;
  Event base;                 // recorded at base_ns of every job's clock
  std::vector<Event> events;  // reused; grows
  DeviceFrame source;
  std::deque<DeviceFrame> frames;       // that steps write
  std::deque<DeviceBuffer> histograms;  // by step

  void release_memory() noexcept {
    source.release();
    for (DeviceFrame& frame : frames) frame.release();
  }
};

// Intervals between events, to become spans when the device is done.
class DeviceTimes {
 public:
  DeviceTimes(Context& context, Timeline& timeline, std::string track = kDeviceTrack)
      : context_(context), timeline_(timeline), track_(std::move(track)) {
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
    intervals_.push_back({Span{std::move(name), track_, kind, 0, 0, bytes, pass}, first, last});
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
  std::string track_;
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
  // With `keep_outputs` every step writes memory of its own; without, memory that nothing reads any more.
  DevicePlan(Context& context, const Plan& plan, const Frame<const std::byte, Device>& source, bool keep_outputs)
      : context_(context), plan_(plan) {
    Frame<const std::byte, Device> current = source;
    Histogram<Device> histogram;
    const std::vector<std::size_t> frames = frames_of_steps(context, plan, keep_outputs);
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
        call.out = context.frames[frames[i]].reserve(step.out, step.stage->moves_alpha);
        current = as_const(call.out);
        if (!step.stage->moves_alpha) current.planes[kAlphaPlane] = call.in.planes[kAlphaPlane];
      }
      calls_.push_back(call);
      outputs_.push_back(writes_pixels(step.stage->writes) ? current : Frame<const std::byte, Device>{});
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
  [[nodiscard]] const std::vector<Frame<const std::byte, Device>>& outputs() const { return outputs_; }
  [[nodiscard]] const StageCall<Device>& call(std::size_t i) const { return calls_[i]; }

 private:
  // Which frame each step writes, all of them large enough for whatever steps write them. Two things are read
  // later than by the next step alone: its colour and, until a stage moves it, alpha.
  static std::vector<std::size_t> frames_of_steps(Context& context, const Plan& plan, bool keep_outputs) {
    constexpr std::size_t kSource = static_cast<std::size_t>(-1);
    std::vector<std::size_t> frames(plan.steps.size(), kSource);
    std::vector<std::size_t> most;
    std::size_t color = kSource;
    std::size_t alpha = kSource;
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      const Stage& stage = *plan.steps[i].stage;
      if (!writes_pixels(stage.writes)) continue;
      std::size_t frame = 0;
      if (keep_outputs) frame = i;
      while (!keep_outputs && (frame == color || frame == alpha)) ++frame;
      color = frames[i] = frame;
      if (stage.moves_alpha) alpha = frame;
      if (most.size() <= frame) most.resize(frame + 1);
      most[frame] = std::max(most[frame], DeviceFrame::bytes(plan.steps[i].out, stage.moves_alpha));
    }
    while (context.frames.size() < most.size()) context.frames.emplace_back();
    for (std::size_t frame = 0; frame < most.size(); ++frame)
      context.frames[frame].reserve_bytes(most[frame]);
    return frames;
  }

  Context& context_;
  const Plan& plan_;
  std::vector<StageCall<Device>> calls_;
  std::vector<Frame<const std::byte, Device>> outputs_;
  Frame<const std::byte, Device> result_;
};

}  // namespace imgpipe
