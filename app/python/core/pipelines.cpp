// Runs of pipelines over numpy arrays.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <pthread.h>
#include <unistd.h>

#include "app/python/core/arrays.h"
#include "app/python/core/bindings.h"
#include "images/error.h"
#include "kernels/stage.h"
#include "pipeline/parameter_text.h"
#include "pipeline/runner.h"

namespace imgpipe::python {
namespace {

// Caches runners between calls, so that threads and devices are started once. Each running call has its own.
// Never destroyed: at process exit their threads can no longer be joined.
class IdleRunners {
 public:
  using Key = std::pair<std::string, int>;  // device, threads
  struct Entry {
    Key key;
    std::unique_ptr<Runner> runner;
  };
  using Entries = std::list<Entry>;

  // Returns an idle runner or a new one, which the caller owns. Throws like Runner.
  [[nodiscard]] Entries take(const Key& key) {
    Entries taken;
    {
      const std::lock_guard lock(mutex_);
      const auto found = std::ranges::find(idle_, key, &Entry::key);
      if (found != idle_.end()) taken.splice(taken.end(), idle_, found);
    }
    if (taken.empty())
      taken.push_back(
          {key, std::make_unique<Runner>(RunnerSettings{.device = key.first, .threads = key.second})});
    return taken;
  }

  // Destroys the least recently used runners after unlocking, because that joins their threads.
  void give_back(Entries entry) noexcept {
    Entries surplus;
    const std::lock_guard lock(mutex_);
    idle_.splice(idle_.begin(), entry);
    if (idle_.size() > kMost)
      surplus.splice(surplus.end(), idle_, std::next(idle_.begin(), kMost), idle_.end());
  }

  // The handlers of fork, called by the forking thread. A forked process has none of its parent's threads, so
  // their runners can neither be used nor destroyed.
  void before_fork() { mutex_.lock(); }
  void in_parent() { mutex_.unlock(); }
  void in_child() {
    for (Entry& entry : idle_) (void)entry.runner.release();
    idle_.clear();
    mutex_.unlock();
  }

 private:
  static constexpr std::ptrdiff_t kMost = 4;

  std::mutex mutex_;
  Entries idle_;  // most recently used first
};

IdleRunners& idle_runners() {
  static auto* const runners = new IdleRunners;
  return *runners;
}

void prepare_for_forks() {
  (void)idle_runners();  // created by a single thread
  const int failed = ::pthread_atfork([] { idle_runners().before_fork(); },
                                      [] { idle_runners().in_parent(); }, [] { idle_runners().in_child(); });
  if (failed != 0) throw std::bad_alloc();
}

// Holds a runner for one call and returns it however the call ends.
class RunnerLease {
 public:
  explicit RunnerLease(const IdleRunners::Key& key) : entry_(idle_runners().take(key)) {}
  // NOLINTNEXTLINE(bugprone-exception-escape): letting the lock go does not throw
  ~RunnerLease() {
    const nb::gil_scoped_release others_run;  // other Python threads run while give_back() joins threads
    idle_runners().give_back(std::move(entry_));
  }
  RunnerLease(const RunnerLease&) = delete;
  RunnerLease& operator=(const RunnerLease&) = delete;

  Runner* operator->() { return entry_.front().runner.get(); }

 private:
  IdleRunners::Entries entry_;
};

// Keeps device memory in a forked process, which cannot access the device.
std::shared_ptr<const void> kept_by_forks(const RunResult& result) {
  if (result.report.implementation != "cuda") return result.memory;
  auto held = std::make_unique<std::shared_ptr<const void>>(result.memory);
  const auto release = [process = ::getpid()](const std::shared_ptr<const void>* memory) {
    if (process == ::getpid()) delete memory;
  };
  return {held.release(), release};
}

nb::dict shape_dict(const Shape& shape) {
  nb::dict dict;
  dict["width"] = shape.width;
  dict["height"] = shape.height;
  dict["channels"] = shape.channels;
  dict["bits_per_sample"] = 8 * bytes_per_sample(shape.sample);
  return dict;
}

// Uses the keys of the program's JSON report.
nb::dict report_dict(const RunReport& report) {
  nb::dict dict, device;
  device["implementation"] = report.implementation;
  device["name"] = report.processor;
  device["why"] = report.why;
  dict["device"] = device;
  dict["input"] = shape_dict(report.input);
  dict["output"] = shape_dict(report.output);
  dict["steps"] = report.steps;
  nb::list ranges, rows;
  for (const ContrastRange& range : report.ranges) {
    nb::dict row;
    row["step"] = range.label;
    row["plane"] = range.plane;
    row["lo"] = range.lo;
    row["hi"] = range.hi;
    ranges.append(row);
  }
  dict["contrast"] = ranges;
  for (const TimeRow& times : report.rows) {
    nb::dict row;
    row["name"] = times.name;
    row["kind"] = std::string(kind_name(times.kind));
    row["time_ms"] = times.time_ms;
    row["bytes"] = times.bytes;
    rows.append(row);
  }
  dict["rows"] = rows;
  dict["notes"] = report.notes;
  return dict;
}

nb::tuple run(nb::handle array, const std::string& stages, const std::string& device, int threads) {
  ImageArray image(array);
  RunnerLease runner({device, threads});
  Plan plan = runner->plan(image.shape(), stages);
  (void)dtype_of(plan.output.sample);  // rejects a type that numpy does not have before any work
  const ConstHostView view = image.view();
  const RunResult result = [&] {
    const nb::gil_scoped_release others_run;
    return runner->run(view, std::move(plan));
  }();
  return nb::make_tuple(array_of(result.pixels, result.report.tensor, kept_by_forks(result)),
                        report_dict(result.report));
}

nb::dict stages() {
  nb::dict all;
  for (const Stage& stage : stage_table()) {
    if (!stage.selectable) continue;
    nb::list parameters;
    for (const Parameter& parameter : stage.parameters) {
      nb::dict row;
      row["name"] = std::string(parameter.name);
      row["help"] = std::string(parameter.help);
      row["allowed"] = allowed_values(parameter);
      row["required"] = parameter.required;
      row["preset"] = parameter.required || parameter.like_previous
                          ? nb::object(nb::none())
                          : nb::cast(value_text(parameter, parameter.preset));
      parameters.append(row);
    }
    nb::dict row;
    row["summary"] = std::string(stage.summary);
    row["parameters"] = parameters;
    all[nb::cast(std::string(stage.name))] = row;
  }
  return all;
}

}  // namespace

void bind_pipelines(nb::module_& module) {
  prepare_for_forks();
  module.attr("DEFAULT_STAGES") = std::string(kDefaultStages);
  module.def("run", &run, nb::arg("array"), nb::arg("stages"), nb::arg("device"), nb::arg("threads"));
  module.def("stages", &stages);
}

}  // namespace imgpipe::python
