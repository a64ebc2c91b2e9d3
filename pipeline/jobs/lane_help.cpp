#include "pipeline/jobs/lane_help.h"

#include <algorithm>

namespace imgpipe {

std::unique_ptr<LaneHelp::Turn> LaneHelp::begin() {
  {
    const std::lock_guard lock(mutex_);
    if (helping_ >= allowed_) return nullptr;
    ++helping_;
  }
  try {
    return std::make_unique<Turn>(shared_from_this());
  } catch (...) {
    end();
    throw;
  }
}

void LaneHelp::end() {
  const std::lock_guard lock(mutex_);
  --helping_;
}

bool LaneHelp::is_exhausted() const {
  const std::lock_guard lock(mutex_);
  return helping_ >= allowed_;
}

void LaneHelp::lanes_are_full(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  // Where those who may do not help, more would not either.
  if (helping_ < allowed_ || now - last_change_ < kStep) return;
  allowed_ = std::min(workers_, allowed_ + 1 + allowed_ / 4);
  last_change_ = now;
}

void LaneHelp::lane_is_idle(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (now - last_halving_ < kStep) return;
  allowed_ /= 2;
  last_halving_ = now;
}

}  // namespace imgpipe
