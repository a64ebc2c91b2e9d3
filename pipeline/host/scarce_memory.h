// Retries small actions that must succeed even when memory is scarce.
#pragma once

#include <chrono>
#include <new>
#include <thread>

namespace imgpipe {

// Repeats `action` while it throws std::bad_alloc, for about 0.4 s, in which other threads may free memory;
// then rethrows. `action` must have no effect when it throws.
template <class Action>
auto retry_on_bad_alloc(const Action& action) {
  constexpr int kMaxTries = 12;
  constexpr std::chrono::milliseconds kBetween{50};
  for (int tries = 1;; ++tries) {
    try {
      return action();
    } catch (const std::bad_alloc&) {
      if (tries == kMaxTries) throw;
    }
    std::this_thread::sleep_for(tries < 4 ? std::chrono::milliseconds(1) : kBetween);
  }
}

}  // namespace imgpipe
