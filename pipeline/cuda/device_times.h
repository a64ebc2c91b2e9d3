// A stream with what its images need, and when what was queued on it happened.
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

// An NVTX range for profilers; ends with its object.
class Range {
 public:
  explicit Range(const std::string& name) { nvtxRangePushA(name.c_str()); }
  ~Range() { nvtxRangePop(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

// How a thread waits for a device: one that spins is there at once, but its processor decodes nothing.
enum class Waiting : std::uint8_t { spinning, sleeping };

// A stream with what its images need, one group of them after the other.
struct Context {
  explicit Context(PinnedMemory& pinned_memory, Waiting waiting = Waiting::spinning) : pinned(pinned_memory) {
    if (waiting == Waiting::sleeping) done.emplace(cudaEventBlockingSync | cudaEventDisableTiming);
  }

  // Before a group's first call: what the one before it had is free again.
  void begin() {
    arena.reset();
    used_events = 0;
    base.record(stream);
    base.wait();
    base_time = Timeline::Clock::now();
  }
  // Marks the stream's present position; returns its number.
  std::size_t mark() {
    if (used_events == events.size()) events.emplace_back();
    events[used_events].record(stream);
    return used_events++;
  }
  void wait_for(std::size_t mark) const { events[mark].wait(); }
  // The end of what is queued, which another thread may wait for.
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
  std::int64_t memory_bytes = 0;  // limit on the device; 0: the free memory
  Stream stream;
  PinnedMemory& pinned;
  Event base;  // recorded at base_time
  Timeline::Clock::time_point base_time;
  std::vector<Event> events;  // reused; grows
  std::size_t used_events = 0;
  std::optional<Event> done;
  std::size_t end = 0;  // without `done`, a mark
  DeviceArena arena;
};

// Intervals between a context's marks, to become spans of one image when the device is done.
class DeviceTimes {
 public:
  DeviceTimes(Context& context, Timeline& timeline, std::string track = kDeviceTrack)
      : context_(context), timeline_(timeline), track_(std::move(track)) {}

  void interval(std::string name, SpanKind kind, std::int64_t bytes, int pass, std::size_t first,
                std::size_t last) {
    intervals_.push_back({Span{std::move(name), track_, kind, 0, 0, bytes, pass}, first, last, {}});
  }
  // Of work that several images share: this one's part of it lies between these fractions of the time.
  struct Share {
    double from = 0, to = 1;
  };
  void share(std::string name, SpanKind kind, std::int64_t bytes, int pass, std::size_t first,
             std::size_t last, Share part) {
    intervals_.push_back({Span{std::move(name), track_, kind, 0, 0, bytes, pass}, first, last, part});
  }

  // After everything marked has happened.
  void give_spans() {
    for (Span& span : take_spans()) timeline_.add(std::move(span));
  }
  // The same for who adds them to the timeline.
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
