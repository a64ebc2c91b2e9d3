#include "pipeline/thread_start.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <latch>
#include <mutex>

namespace imgpipe {

namespace {

std::mutex trial_mutex;
bool limit_seen = false;
std::atomic<int> most_had{1};

}  // namespace

std::vector<std::thread> start_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  if (count > 0) threads.reserve(static_cast<std::size_t>(count));
  try {
    for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  } catch (const std::exception&) {
    // Those that there are will do.
  }
  return threads;
}

int threads_to_be_had(int count) {
  const std::lock_guard lock(trial_mutex);
  if (count <= most_had || limit_seen) return std::clamp(count, 1, most_had.load());
  std::latch all_started(1);
  std::vector<std::thread> threads = start_threads(count - 1, [&](int) { all_started.wait(); });
  all_started.count_down();
  for (std::thread& thread : threads) thread.join();
  const int had = static_cast<int>(threads.size()) + 1;
  most_had = std::max<int>(most_had, had);
  if (had < count) {
    limit_seen = true;
    // A thread that was joined may count for a moment still.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return had;
}

int most_threads_had() noexcept {
  return most_had;
}

}  // namespace imgpipe
