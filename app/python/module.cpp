// The Python module imgpipe._core: runs numpy arrays through pipeline/runner.h. __init__.py checks argument
// types and documents the functions.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pthread.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include "app/build_id.h"
#include "images/error.h"
#include "images/memory/available_memory.h"
#include "kernels/stage.h"
#include "pipeline/parameter_text.h"
#include "pipeline/runner.h"

namespace py = pybind11;

namespace imgpipe {
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
  // NOLINTNEXTLINE(bugprone-exception-escape): pybind11 does not say that letting the lock go throws nothing
  ~RunnerLease() {
    const py::gil_scoped_release others_run;  // other Python threads run while give_back() joins threads
    idle_runners().give_back(std::move(entry_));
  }
  RunnerLease(const RunnerLease&) = delete;
  RunnerLease& operator=(const RunnerLease&) = delete;

  Runner* operator->() { return entry_.front().runner.get(); }

 private:
  IdleRunners::Entries entry_;
};

Sample sample_type(const py::array& array) {
  const py::dtype type = array.dtype();
  if (type.kind() == 'u' && type.itemsize() == 1) return Sample::u8;
  if (type.kind() == 'u' && type.itemsize() == 2 && py::dtype::of<std::uint16_t>().equal(type))
    return Sample::u16;
  if (py::dtype::of<float>().equal(type)) return Sample::f32;
  throw py::type_error("array: expected numpy.uint8, numpy.uint16 or numpy.float32, got " +
                       std::string(py::str(py::handle(type))));
}

Shape shape_of(const py::array& array) {
  if (array.ndim() != 2 && array.ndim() != 3)
    throw py::value_error("array: expected HxW or HxWxC, got " + std::to_string(array.ndim()) +
                          (array.ndim() == 1 ? " dimension" : " dimensions"));
  if (array.ndim() == 3 && array.shape(2) > 4)
    throw py::value_error(
        "array: expected 1 to 4 channels, got " + std::to_string(array.shape(2)) + " (shape " +
        std::string(py::str(array.attr("shape"))) + ")" +
        (array.shape(0) <= 4 ? "; if channels come first use array.transpose(1, 2, 0)" : ""));
  const int channels = array.ndim() == 2 ? 1 : static_cast<int>(array.shape(2));
  return {array.shape(1), array.shape(0), channels, sample_type(array)};
}

// Returns true if the array can be read in place: contiguous pixels in rows with any positive stride.
bool is_readable_in_place(const py::array& array, const Shape& shape) {
  const std::int64_t size = bytes_per_sample(shape.sample);
  const bool channels_follow = array.ndim() == 2 || shape.channels == 1 || array.strides(2) == size;
  const bool pixels_follow = shape.width == 1 || array.strides(1) == size * shape.channels;
  const bool rows_follow = shape.height == 1 || array.strides(0) >= shape.row_bytes();
  return channels_follow && pixels_follow && rows_follow && array.strides(0) % size == 0 &&
         reinterpret_cast<std::uintptr_t>(array.data()) % static_cast<std::uintptr_t>(size) == 0;
}

ConstHostView view_of(const py::array& array, const Shape& shape) {
  const std::int64_t stride = shape.height == 1 ? shape.row_bytes() : array.strides(0);
  return {static_cast<const std::byte*>(array.data()), shape, stride};
}

// The memory that a result's array keeps alive.
struct Owned {
  std::shared_ptr<const void> memory;
  bool of_device = false;
  pid_t process = ::getpid();
};

// Releases the memory, except device memory in a forked process, which cannot access the device.
void release_owned(void* owned) {
  auto* const one = static_cast<Owned*>(owned);
  if (!one->of_device || one->process == ::getpid()) delete one;
}

// Returns the result as an array that owns its memory, without copying.
py::array array_of(const RunResult& result) {
  const Shape& shape = result.report.output;
  auto owned = std::make_unique<Owned>(Owned{result.memory, result.report.implementation == "cuda"});
  const py::capsule owner(owned.get(), &release_owned);
  (void)owned.release();
  const auto size = static_cast<py::ssize_t>(bytes_per_sample(shape.sample));
  std::vector<py::ssize_t> sides{shape.height, shape.width}, strides{result.pixels.stride_bytes, size};
  if (shape.channels > 1) {
    sides.push_back(shape.channels);
    strides = {result.pixels.stride_bytes, size * shape.channels, size};
  }
  const py::dtype type = visit_any_sample(shape.sample, []<class T>(T) { return py::dtype::of<T>(); });
  return {type, sides, strides, result.pixels.data, owner};
}

py::dict shape_dict(const Shape& shape) {
  py::dict dict;
  dict["width"] = shape.width;
  dict["height"] = shape.height;
  dict["channels"] = shape.channels;
  dict["bits_per_sample"] = 8 * bytes_per_sample(shape.sample);
  return dict;
}

// Uses the keys of the program's JSON report.
py::dict report_dict(const RunReport& report) {
  py::dict dict, device;
  device["implementation"] = report.implementation;
  device["name"] = report.processor;
  device["why"] = report.why;
  dict["device"] = device;
  dict["input"] = shape_dict(report.input);
  dict["output"] = shape_dict(report.output);
  dict["steps"] = report.steps;
  py::list ranges, rows;
  for (const ContrastRange& range : report.ranges) {
    py::dict row;
    row["step"] = range.label;
    row["plane"] = range.plane;
    row["lo"] = range.lo;
    row["hi"] = range.hi;
    ranges.append(row);
  }
  dict["contrast"] = ranges;
  for (const TimeRow& times : report.rows) {
    py::dict row;
    row["name"] = times.name;
    row["kind"] = kind_name(times.kind);
    row["time_ms"] = times.time_ms;
    row["bytes"] = times.bytes;
    rows.append(row);
  }
  dict["rows"] = rows;
  dict["notes"] = report.notes;
  return dict;
}

py::tuple run(const py::array& array, const std::string& stages, const std::string& device, int threads) {
  const Shape shape = shape_of(array);
  RunnerLease runner({device, threads});
  Plan plan = runner->plan(shape, stages);
  py::array rows = array;
  if (!is_readable_in_place(array, shape)) {
    check_available(shape.bytes());
    rows = array.attr("copy")("C");
  }
  const ConstHostView view = view_of(rows, shape);
  const RunResult result = [&] {
    const py::gil_scoped_release others_run;
    return runner->run(view, std::move(plan));
  }();
  return py::make_tuple(array_of(result), report_dict(result.report));
}

py::dict stages() {
  py::dict all;
  for (const Stage& stage : stage_table()) {
    if (!stage.selectable) continue;
    py::list parameters;
    for (const Parameter& parameter : stage.parameters) {
      py::dict row;
      row["name"] = std::string(parameter.name);
      row["help"] = std::string(parameter.help);
      row["allowed"] = allowed_values(parameter);
      row["required"] = parameter.required;
      row["preset"] = parameter.required || parameter.like_previous
                          ? py::object(py::none())
                          : py::object(py::str(value_text(parameter, parameter.preset)));
      parameters.append(row);
    }
    py::dict row;
    row["summary"] = std::string(stage.summary);
    row["parameters"] = parameters;
    all[py::str(std::string(stage.name))] = row;
  }
  return all;
}

// Replaces option names in the program's messages by parameter names of run().
std::string python_message(std::string message) {
  for (const std::string_view option : {"--stages", "--threads", "--device"}) {
    for (std::size_t at = 0; (at = message.find(option, at)) != message.npos;) message.erase(at, 2);
  }
  return message;
}

PyObject* exception_for(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
    case ErrorKind::input:
      return PyExc_ValueError;
    case ErrorKind::memory:
      return PyExc_MemoryError;
    case ErrorKind::device:
      return PyExc_RuntimeError;
    case ErrorKind::output:
      break;
  }
  return PyExc_OSError;
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  // pybind11 has its type.  NOLINTNEXTLINE(performance-unnecessary-value-param)
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& error) {
      PyErr_SetString(exception_for(error.kind()), python_message(error.what()).c_str());
    }
  });
  prepare_for_forks();
  module.attr("__version__") = kPythonVersion;
  module.attr("DEFAULT_STAGES") = std::string(kDefaultStages);
  module.def("run", &run);
  module.def("stages", &stages);
}

}  // namespace imgpipe
