#include "pipeline/threads/thread_start.h"

#include <exception>

namespace imgpipe {

std::vector<std::thread> start_threads(int count, const std::function<void(int)>& body) noexcept {
  std::vector<std::thread> threads;
  try {
    if (count > 0) threads.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  } catch (const std::exception&) {
    // No thread, or no memory for it. Those that there are will do.
  }
  return threads;
}

}  // namespace imgpipe
