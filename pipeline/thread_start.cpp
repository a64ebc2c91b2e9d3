#include "pipeline/thread_start.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <latch>
#include <system_error>

namespace imgpipe {

std::vector<std::thread> start_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  if (count > 0) threads.reserve(static_cast<std::size_t>(count));
  try {
    for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  } catch (const std::system_error&) {
    // Those that there are will do.
  }
  return threads;
}

int threads_to_be_had(int count) {
  static std::atomic<int> proven{1};
  if (count <= proven) return std::max(count, 1);
  std::latch all_started(1);
  std::vector<std::thread> threads = start_threads(count - 1, [&](int) { all_started.wait(); });
  all_started.count_down();
  for (std::thread& thread : threads) thread.join();
  const int had = static_cast<int>(threads.size()) + 1;
  if (had == count) {
    proven = std::max<int>(proven, count);
  } else {
    // A thread that was joined may count for a moment still.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return had;
}

}  // namespace imgpipe
