// A stream with what its images need, and when what was queued on it happened.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <nvtx3/nvToolsExt.h>

#include "pipeline/cuda/cuda_api.h"
#include "pipeline/cuda/pinned_memory.h"
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

// A stream with what its images need, one after the other.
struct Context {
  explicit Context(PinnedMemory& pinned_memory) : pinned(pinned_memory) {}

  int multiprocessors = 1;
  Stream stream;
  PinnedMemory& pinned;
  Event base;                           // recorded at base_ns of every job's clock
  std::vector<Event> events;            // reused; grows
  DeviceBuffer source;                  // the decoded image
  std::deque<DeviceBuffer> places;      // of what steps make
  std::deque<DeviceBuffer> histograms;  // by step
  std::deque<DeviceBuffer> prepared;    // by step

  void release_memory() noexcept {
    source.release();
    for (DeviceBuffer& place : places) place.release();
    for (DeviceBuffer& table : prepared) table.release();
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

}  // namespace imgpipe
