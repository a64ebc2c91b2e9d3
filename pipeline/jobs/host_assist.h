// Adapts the number of workers that do the lanes' work.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

namespace imgpipe {

// While the lanes are full, a worker that processes a whole image itself saves time. But it does not feed
// them meanwhile, which on a fast device costs more. Therefore the limit grows by one plus a quarter each
// time the lanes have been full for kStep, and halves, at most once per kStep, when a lane idles. The caller
// synchronises everything except the end of an Assistance.
class HostAssist {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kStep{10};

  explicit HostAssist(int workers) : workers_(workers) {}

  // An assisting worker. It counts until this object is destroyed, which may happen on any thread.
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
  // Returns nullptr if the limit is reached.
  [[nodiscard]] std::unique_ptr<Assistance> begin();
  // Whether the limit is reached.
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
