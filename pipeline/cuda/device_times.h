// A stream with its resources, and the times of the work queued on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nvtx3/nvToolsExt.h>

#include "pipeline/cuda/cuda_api.h"
#include "pipeline/cuda/device_arena.h"
#include "pipeline/cuda/pinned_memory.h"
#include "pipeline/devices/device_route.h"
#include "pipeline/timeline.h"

namespace imgpipe {

// A stream's name in reports.
inline constexpr const char* kDeviceTrack = "cuda stream";

// An NVTX range for profilers, from construction to destruction.
class Range {
 public:
  explicit Range(const std::string& name) { nvtxRangePushA(name.c_str()); }
  ~Range() { nvtxRangePop(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

// How a thread waits for a device. A spinning thread continues at once, but occupies a processor.
enum class Waiting : std::uint8_t { spinning, sleeping };

// A stream, with the memory and events of its current group of images.
struct Context {
  explicit Context(PinnedMemory& pinned_memory, Waiting waiting = Waiting::spinning) : pinned(pinned_memory) {
    if (waiting == Waiting::sleeping) done.emplace(cudaEventBlockingSync | cudaEventDisableTiming);
  }

  // Called before a group's first call. Frees the memory and events of the previous group.
  void begin() {
    arena.reset();
    used_events = 0;
    if (!is_timed) return;
    base.record(stream);
    base.wait();
    base_time = Timeline::Clock::now();
  }
  // Marks the stream's current position; returns the number of the mark. Without times there are no marks.
  std::size_t mark() {
    if (!is_timed) return 0;
    if (used_events == events.size()) events.emplace_back();
    events[used_events].record(stream);
    return used_events++;
  }
  void wait_for(std::size_t mark) const { events[mark].wait(); }
  // Marks the end of the queued work, which another thread may wait for.
  void mark_end() {
    if (done) {
      done->record(stream);
    } else {
      end = mark();
    }
  }
  void wait_for_end() const { done ? done->wait() : wait_for(end); }

  [[nodiscard]] DeviceMemory memory() const {
    return {memory_bytes, static_cast<std::int64_t>(arena.held_bytes()), &free_device_bytes};
  }

  int device = 0;
  int multiprocessors = 1;
  bool is_timed = true;           // false only if `done` is set
  std::int64_t memory_bytes = 0;  // limit of device memory; 0: all that is free
  Stream stream;
  PinnedMemory& pinned;
  Event base;  // recorded at base_time
  Timeline::Clock::time_point base_time;
  std::vector<Event> events;  // reused; grows
  std::size_t used_events = 0;
  std::optional<Event> done;
  std::size_t end = 0;  // the mark of the end, if `done` is not set
  DeviceArena arena;
};

// Records intervals between a context's marks, and converts them to spans of one image.
class DeviceTimes {
 public:
  DeviceTimes(Context& context, Timeline& timeline, std::string track = kDeviceTrack)
      : context_(context), timeline_(timeline), track_(std::move(track)) {}

  void interval(std::string name, SpanKind kind, std::int64_t bytes, int pass, std::size_t first,
                std::size_t last) {
    if (!context_.is_timed) return;
    intervals_.push_back({Span{std::move(name), track_, kind, 0, 0, bytes, pass}, first, last, {}});
  }
  // An image's part of work that several images share, as fractions of the interval.
  struct Share {
    double from = 0, to = 1;
  };
  void share(std::string name, SpanKind kind, std::int64_t bytes, int pass, std::size_t first,
             std::size_t last, Share part) {
    if (!context_.is_timed) return;
    intervals_.push_back({Span{std::move(name), track_, kind, 0, 0, bytes, pass}, first, last, part});
  }

  // Adds the spans to the timeline. All marked work must be done.
  void record_spans() {
    for (Span& span : take_spans()) timeline_.add(std::move(span));
  }
  // Returns the spans instead of adding them to the timeline.
  [[nodiscard]] std::vector<Span> take_spans() {
    std::vector<Span> spans;
    for (Interval& interval : intervals_) {
      const std::int64_t first = time_of(interval.first);
      const auto length = static_cast<double>(time_of(interval.last) - first);
      interval.span.start_ns = first + static_cast<std::int64_t>(length * interval.part.from);
      interval.span.end_ns = first + static_cast<std::int64_t>(length * interval.part.to);
      spans.push_back(std::move(interval.span));
    }
    intervals_.clear();
    return spans;
  }

 private:
  struct Interval {
    Span span;
    std::size_t first, last;
    Share part;
  };

  [[nodiscard]] std::int64_t time_of(std::size_t mark) const {
    float ms = 0;
    IMGPIPE_CUDA(cudaEventElapsedTime(&ms, context_.base.get(), context_.events[mark].get()));
    return timeline_.ns_at(context_.base_time) + static_cast<std::int64_t>(static_cast<double>(ms) * 1e6);
  }

  Context& context_;
  Timeline& timeline_;
  std::string track_;
  std::vector<Interval> intervals_;
};

}  // namespace imgpipe
