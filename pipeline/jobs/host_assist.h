// How many workers may do at a time what the lanes were meant to do: found by trying.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

namespace imgpipe {

// While the lanes are full, a worker that does a whole image by itself saves time. But it does not feed them
// meanwhile, and on a fast device that costs more than it saves. So one more worker may assist, plus a
// quarter of those that may, each time that the lanes have been full for kStep; and half as many, at most
// once per kStep, when a lane has nothing to do. The caller synchronises all but the end of an Assistance.
class HostAssist {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kStep{10};

  explicit HostAssist(int workers) : workers_(workers) {}

  // A worker that assists; it counts as long as this lives, and may end on any thread.
  class Assistance {
   public:
    explicit Assistance(std::shared_ptr<std::atomic<int>> assisting) : assisting_(std::move(assisting)) {
      ++*assisting_;
    }
    ~Assistance() { --*assisting_; }
    Assistance(const Assistance&) = delete;
    Assistance& operator=(const Assistance&) = delete;

   private:
    std::shared_ptr<std::atomic<int>> assisting_;
  };
  // nullptr where no more may.
  [[nodiscard]] std::unique_ptr<Assistance> begin();
  // No more workers may assist now.
  [[nodiscard]] bool is_exhausted() const { return *assisting_ >= allowed_; }
  void lanes_are_full(Clock::time_point now = Clock::now());
  void lane_is_idle(Clock::time_point now = Clock::now());

 private:
  const int workers_;
  const std::shared_ptr<std::atomic<int>> assisting_ = std::make_shared<std::atomic<int>>(0);
  int allowed_ = 0;
  Clock::time_point last_change_{}, last_halving_{};
};

}  // namespace imgpipe
