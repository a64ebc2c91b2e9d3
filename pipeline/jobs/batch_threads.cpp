#include "pipeline/jobs/batch_threads.h"

#include <algorithm>

#include "pipeline/threads/thread_start.h"

namespace imgpipe {

Engine& Worker::engine(int threads) {
  std::unique_ptr<Engine>& engine = engines_[threads];
  if (engine) return *engine;
  // Towards the batch's end an image gets more and more threads; those of the old engines would idle.
  std::erase_if(engines_, [&](const auto& other) { return other.first > 1 && other.first != threads; });
  engine = settings_.make_engine(threads);
  return *engine;
}

int workers_for(const BatchSettings& settings, std::size_t items) {
  return static_cast<int>(std::clamp<std::size_t>(items, 1, static_cast<std::size_t>(settings.jobs)));
}

std::vector<std::thread> start_workers(const BatchSettings& settings, std::size_t items,
                                       const std::function<void(std::size_t)>& work) {
  return start_threads(workers_for(settings, items), [work](int i) { work(static_cast<std::size_t>(i)); });
}

std::vector<std::thread> start_or_run(const std::function<void()>& action) {
  std::vector<std::thread> started = start_threads(1, [action](int) { action(); });
  if (started.empty()) action();
  return started;
}

}  // namespace imgpipe
