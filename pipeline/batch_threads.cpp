#include "pipeline/batch_threads.h"

#include <algorithm>

#include "pipeline/thread_start.h"

namespace imgpipe {

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

Error no_threads() {
  return {ErrorKind::memory, "cannot start a thread beside the first: a limit of processes (ulimit -u)"};
}

}  // namespace imgpipe
