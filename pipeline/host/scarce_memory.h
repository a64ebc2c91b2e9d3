// For the little that must be done even where there is no memory left.
#pragma once

#include <chrono>
#include <new>
#include <thread>

namespace imgpipe {

// Calls `action` again as long as it finds no memory, for half a second: others give back what they have.
// The last std::bad_alloc is the caller's. `action` leaves everything as it was when it throws.
template <class Action>
auto with_patience(const Action& action) {
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
