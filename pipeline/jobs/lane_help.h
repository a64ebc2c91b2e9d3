// How many workers may do at a time what the lanes were meant to do: found by trying.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <utility>

namespace imgpipe {

// While the lanes are full, a worker that does a whole image by itself saves time. But it does not feed them
// meanwhile, and on a fast device that costs more than it saves. So one more may help, and a quarter of those
// who may, each time that the lanes have been full for kStep; and half as many, at most once in kStep, when a
// lane has nothing to do. Thread-safe.
class LaneHelp : public std::enable_shared_from_this<LaneHelp> {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kStep{10};

  explicit LaneHelp(int workers) : workers_(workers) {}

  // A worker's help; it ends with its object.
  class Turn {
   public:
    explicit Turn(std::shared_ptr<LaneHelp> help) : help_(std::move(help)) {}
    ~Turn() { help_->end(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    std::shared_ptr<LaneHelp> help_;
  };
  // nullptr where no more may.
  [[nodiscard]] std::unique_ptr<Turn> begin();
  // Nobody more may help now.
  [[nodiscard]] bool is_exhausted() const;
  void lanes_are_full(Clock::time_point now = Clock::now());
  void lane_is_idle(Clock::time_point now = Clock::now());

 private:
  void end();

  const int workers_;
  mutable std::mutex mutex_;
  int helping_ = 0, allowed_ = 0;
  Clock::time_point last_change_{}, last_halving_{};
};

}  // namespace imgpipe
