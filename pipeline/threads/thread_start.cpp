#include "pipeline/threads/thread_start.h"

#include <exception>
#include <utility>

namespace imgpipe {
namespace {

thread_local bool is_library_thread = false;

}  // namespace

std::thread start_thread(std::function<void()> body) {
  return std::thread([body = std::move(body)] {
    is_library_thread = true;
    body();
  });
}

std::vector<std::thread> start_threads(int count, const std::function<void(int)>& body) noexcept {
  std::vector<std::thread> threads;
  try {
    if (count > 0) threads.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) threads.push_back(start_thread([body, i] { body(i); }));
  } catch (const std::exception&) {
    // No thread, or no memory for it: continue with those started.
  }
  return threads;
}

bool is_library_thread_now() noexcept {
  return is_library_thread;
}

}  // namespace imgpipe
