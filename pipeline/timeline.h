// Records spans of time on named tracks. Every time that imgpipe reports comes from here.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace imgpipe {

// The category of a span's time in the report's totals. codec: decoding or encoding on a device.
enum class SpanKind { host, transfer, kernel, codec };

struct Span {
  std::string name;   // the report row: decode, upload, a stage, download, encode, write
  std::string track;  // what ran it: "host", a worker, a stream
  SpanKind kind = SpanKind::host;
  std::int64_t start_ns = 0;  // since the timeline's origin
  std::int64_t end_ns = 0;
  std::int64_t bytes = 0;  // read and written
  int pass = 0;            // of --repeat; kWarmUpPass is not reported

  [[nodiscard]] std::int64_t length_ns() const { return end_ns - start_ns; }
};

inline constexpr int kWarmUpPass = -1;

// Not thread-safe. Uses the steady clock.
class Timeline {
 public:
  using Clock = std::chrono::steady_clock;

  // `track` is the default track of spans.
  explicit Timeline(Clock::time_point origin = Clock::now(), std::string track = "host")
      : origin_(origin), track_(std::move(track)) {}

  // A span that lasts from construction to destruction.
  class Running {
   public:
    Running(Timeline& timeline, Span span) : timeline_(timeline), span_(std::move(span)) {
      span_.start_ns = timeline_.now_ns();
    }
    ~Running();
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    void set_bytes(std::int64_t bytes) { span_.bytes = bytes; }
    void set_name(std::string name) { span_.name = std::move(name); }

   private:
    Timeline& timeline_;
    Span span_;
  };

  [[nodiscard]] Running span(std::string_view name, SpanKind kind, std::int64_t bytes = 0, int pass = 0) {
    return {*this, Span{std::string(name), track_, kind, 0, 0, bytes, pass}};
  }

  [[nodiscard]] const std::string& track() const { return track_; }
  // The track of one of several threads that share the work, such as "cpu 2" or "worker 1 cpu 2".
  [[nodiscard]] std::string track_of(int thread, int threads) const;
  // Sets the default track of future spans, when other threads continue the work.
  void set_track(std::string track) { track_ = std::move(track); }
  void add(Span span) { spans_.push_back(std::move(span)); }
  [[nodiscard]] std::int64_t now_ns() const { return ns_at(Clock::now()); }
  [[nodiscard]] std::int64_t ns_at(Clock::time_point time) const {
    return (time - origin_) / std::chrono::nanoseconds(1);
  }
  [[nodiscard]] const std::vector<Span>& spans() const { return spans_; }

  // Returns the nanoseconds in which at least one span was running.
  [[nodiscard]] std::int64_t union_ns() const;

 private:
  Clock::time_point origin_;
  std::string track_;
  std::vector<Span> spans_;
};

}  // namespace imgpipe
