#include "pipeline/batch_threads.h"

#include <algorithm>

#include "images/error.h"
#include "pipeline/thread_start.h"

namespace imgpipe {
namespace {

Error no_threads() {
  return {ErrorKind::memory, "cannot start a thread beside the first: a limit of processes (ulimit -u)"};
}

}  // namespace

int workers_for(const BatchSettings& settings, std::size_t items) {
  return static_cast<int>(std::clamp<std::size_t>(items, 1, static_cast<std::size_t>(settings.jobs)));
}

BatchSettings within_threads(BatchSettings settings, std::size_t items) {
  constexpr int kCallerAndFinder = 2;
  const int wanted = kCallerAndFinder + workers_for(settings, items) + settings.threads;
  const int had = threads_to_be_had(wanted);
  if (had == wanted) return settings;
  if (had < 2) throw no_threads();
  settings.jobs = std::clamp(had - kCallerAndFinder, 1, settings.jobs);
  settings.threads = 1;
  return settings;
}

std::vector<std::thread> start_workers(const BatchSettings& settings, std::size_t items,
                                       const std::function<void(std::size_t)>& work) {
  std::vector<std::thread> workers =
      start_threads(workers_for(settings, items), [work](int i) { work(static_cast<std::size_t>(i)); });
  if (workers.empty()) throw no_threads();
  return workers;
}

std::vector<std::thread> start_or_run(const std::function<void()>& action) {
  std::vector<std::thread> started = start_threads(1, [action](int) { action(); });
  if (started.empty()) action();
  return started;
}

}  // namespace imgpipe
