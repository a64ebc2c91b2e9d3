#include "pipeline/jobs/host_assist.h"

#include <algorithm>

namespace imgpipe {

std::unique_ptr<HostAssist::Assistance> HostAssist::begin() {
  return is_exhausted() ? nullptr : std::make_unique<Assistance>(assisting_);
}

void HostAssist::lanes_are_full(Clock::time_point now) {
  // If fewer assist than allowed, allowing more changes nothing.
  if (!is_exhausted() || now - last_change_ < kStep) return;
  allowed_ = std::min(workers_, allowed_ + 1 + allowed_ / 4);
  last_change_ = now;
}

void HostAssist::lane_is_idle(Clock::time_point now) {
  if (now - last_halving_ < kStep) return;
  allowed_ /= 2;
  last_halving_ = now;
}

}  // namespace imgpipe
