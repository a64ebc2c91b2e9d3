#include "app/python/core/item_threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>

#include <nanobind/nanobind.h>

#include "pipeline/device.h"
#include "pipeline/threads/host_threads.h"

namespace imgpipe::python {
namespace {

namespace nb = nanobind;

// Throws nb::python_error if a signal's handler raised an exception. Called on the caller's thread, at most
// ten times per second, because it waits for the GIL.
class SignalCheck {
 public:
  void operator()() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    const nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    next_ = now + kInterval;
  }

 private:
  static constexpr std::chrono::milliseconds kInterval{100};
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + kInterval;
};

}  // namespace

int call_threads(int requested) {
  // Once per process, because it reads files.
  static const int usable = host_threads();
  return requested > 0 ? requested : usable;
}

int image_threads(int requested, std::int64_t pixels) {
  // Starting a thread takes as long as decoding a few thousand pixels.
  constexpr std::int64_t kPixelsPerThread = std::int64_t{1} << 18;
  const auto most = static_cast<int>(std::min<std::int64_t>(pixels / kPixelsPerThread, kMaxThreads));
  return most <= 1 ? 1 : std::min(most, call_threads(requested));
}

std::optional<ItemFailure> run_items(std::size_t count, int threads,
                                     const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::optional<ItemFailure> first;
  SignalCheck check_signals;
  HostThreads workers(static_cast<int>(std::clamp<std::size_t>(count, 1, static_cast<std::size_t>(threads))));
  workers.run(workers.count(), [&](int thread) {
    while (!failed) {
      const std::size_t i = next++;
      if (i >= count) return;
      try {
        work(i);
        if (thread == 0) check_signals();
      } catch (...) {
        const std::lock_guard lock(mutex);
        failed = true;
        if (!first || i < first->index) first = {i, std::current_exception()};
      }
    }
  });
  return first;
}

}  // namespace imgpipe::python
