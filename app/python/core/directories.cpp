// The program's batch over a directory, and the images in a directory.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "app/files/lost_outputs.h"
#include "app/image/image_settings.h"
#include "app/jobs/existing_results.h"
#include "app/jobs/glob_paths.h"
#include "app/jobs/input_search.h"
#include "app/jobs/output_plan.h"
#include "app/options/name_ranges.h"
#include "app/process_options/tensor_options.h"
#include "app/python/core/bindings.h"
#include "app/python/core/decoding.h"
#include "app/python/core/devices.h"
#include "app/python/core/errors.h"
#include "app/python/core/pipelines.h"
#include "app/python/core/sources.h"
#include "app/python/core/without_gil.h"
#include "images/error.h"
#include "images/files/file_descriptor.h"
#include "images/files/temporary_file.h"
#include "images/text.h"
#include "pipeline/device.h"
#include "pipeline/error_of.h"
#include "pipeline/jobs/batch.h"
#include "pipeline/jobs/batch_devices.h"
#include "pipeline/second_images.h"
#include "pipeline/stage_list.h"

namespace imgpipe::python {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPollInterval{50};  // between checks for signals, and reports of progress

// Returns the names of the images below a directory, or the paths that match a pattern, and problems as
// (path, reason).
nb::tuple list_images(const nb::bytes& directory) {
  InputOptions input;
  input.more_paths = expand_ranges(path_of(directory, "sources"));
  input.path = input.more_paths.front();
  input.more_paths.erase(input.more_paths.begin());
  input.recursive = true;
  const BatchFiles found = without_gil([&input] { return search_inputs(input, nullptr, true); });
  nb::list names, problems;
  for (const BatchFile& file : found.files) names.append(path_object(std::string(file.name())));
  for (const PathProblem& problem : found.problems)
    problems.append(nb::make_tuple(path_object(problem.path), problem.reason));
  return nb::make_tuple(names, problems);
}

struct Failure {
  std::string path, reason;
  ErrorKind kind = ErrorKind::input;
};

// One run over a directory, made of the parts of the program's batch (app/batch/batch_command.h).
class DirectoryRun {
 public:
  explicit DirectoryRun(ProcessOptions options) : options_(std::move(options)) {}

  // Finds the inputs, and checks and sets aside outputs, before any work.
  void plan() {
    found_ = search_inputs(options_.input, &options_.output);
    if (found_.files.empty() && found_.problems.empty())
      throw Error(ErrorKind::usage,
                  printable(options_.input.path) + ": no images found" +
                      (found_.skipped_inputs.files() > 0 ? "; skipped files: " + found_.skipped_inputs.text()
                                                         : std::string()));
    plan_outputs(options_, found_);
    for (const BatchFile& file : found_.files)
      check_output_holds(options_, file.format, printable(file.output));
    for (const PathProblem& problem : found_.problems) failures_.push_back({problem.path, problem.reason});
  }
  // Throws Error(usage) if an existing file may not be replaced.
  void check_replaceable() { (void)check_replaceable_outputs(options_, found_); }

  void start() {
    if (options_.output.skip_existing)
      skipped_ = std::erase_if(found_.files, [](const BatchFile& file) { return file.output_exists; });
    if (found_.files.empty()) return;
    StaleTemporaryFiles stale;
    for (const BatchFile& file : found_.files) stale.remove(file.output);
    is_done_.resize(found_.files.size());
    batch_ = std::make_unique<Batch>(BatchItems(found_.files.size(),
                                                [this](std::size_t i) {
                                                  const BatchFile& file = found_.files[i];
                                                  return BatchItem{.input = file.input,
                                                                   .output = file.output,
                                                                   .format = file.format,
                                                                   .made_of = file.made_of()};
                                                }),
                                     settings());
  }

  // Takes results for up to kPollInterval. Returns false after the last one.
  bool work() {
    const Clock::time_point end = Clock::now() + kPollInterval;
    while (batch_ && !batch_->finished() && Clock::now() < end) {
      if (const std::optional<BatchResult> result = batch_->next(kPollInterval)) take(*result);
    }
    return batch_ && !batch_->finished();
  }

  // Begins no more images, and ends the run.
  void stop() {
    batch_->stop();
    while (work()) {
    }
    finish();
  }

  // Ends the run: finds lost outputs, and makes the others durable.
  void finish() {
    std::optional<Error> fatal;
    if (batch_) {
      fatal = batch_->fatal();
      for (std::string& note : batch_->take_notes()) warnings_.push_back(std::move(note));
      batch_.reset();
    }
    report_lost_outputs();
    options_.output.sync->sync_names();
    if (fatal) throw Error(*fatal);
  }

  [[nodiscard]] std::size_t total() const { return found_.files.size(); }
  [[nodiscard]] std::size_t ended() const { return ended_; }
  [[nodiscard]] const std::optional<Failure>& first_failure() const { return first_failure_; }

  [[nodiscard]] nb::tuple summary() const {
    nb::list failed, warnings;
    for (const Failure& failure : failures_)
      failed.append(nb::make_tuple(path_object(failure.path), failure.reason));
    for (const std::string& warning : warnings_) warnings.append(warning);
    return nb::make_tuple(done_, skipped_, failed, pixels_, warnings);
  }

 private:
  BatchSettings settings() {
    const ExecutionOptions& execution = options_.execution;
    BatchSettings settings;
    static_cast<ImageSettings&>(settings) = image_settings(options_);
    settings.threads = execution.threads > 0 ? execution.threads : host_threads();
    settings.jobs = execution.jobs > 0 ? execution.jobs : settings.threads;
    settings.memory_is_limit = execution.memory_bytes > 0;
    settings.memory_bytes =
        execution.memory_bytes > 0 ? execution.memory_bytes : memory_for_images(0, settings.jobs, 0);
    settings.fail_fast = execution.fail_fast;
    (void)use_devices(settings, choose_device(execution.device), [](const CudaDevice&) {
      return DeviceCosts{default_cost_model(), "typical costs"};
    });
    if (settings.find_lanes)
      settings.find_lanes = [find_lanes = std::move(settings.find_lanes)] {
        check_process();  // with auto, a forked process works on the host
        LaneCapacity capacity = find_lanes();
        if (!capacity.lanes.empty()) note_device_use();
        for (const auto& lane : capacity.lanes) lane->limit_memory(device_image_limit());
        return capacity;
      };
    return settings;
  }

  void take(const BatchResult& result) {
    const BatchFile& file = found_.files[result.item];
    ++ended_;
    warnings_.insert(warnings_.end(), result.warnings.begin(), result.warnings.end());
    if (result.depth_loss != DepthLoss::none)
      warnings_.push_back(printable(file.input) + ": " +
                          depth_warning(result.depth_loss, result.header.bits_per_sample, file.format));
    if (result.failed) {
      fail(file, *result.failed, result.reason);
      return;
    }
    ++done_;
    pixels_ += result.pixels > 0 ? result.pixels : result.header.shape.pixels();
    is_done_[result.item] = true;
  }

  void fail(const BatchFile& file, ErrorKind kind, std::string reason) {
    if (const std::string prefix = printable(file.input) + ": "; reason.starts_with(prefix))
      reason.erase(0, prefix.size());
    failures_.push_back({file.input, python_message(std::move(reason)), kind});
    if (!first_failure_) first_failure_ = failures_.back();
  }

  void report_lost_outputs() {
    std::vector<const BatchFile*> done;
    std::vector<std::string> outputs;
    for (std::size_t i = 0; i < is_done_.size(); ++i) {
      if (!is_done_[i]) continue;
      done.push_back(&found_.files[i]);
      outputs.push_back(found_.files[i].output);
    }
    for (const std::size_t i : missing_files(outputs)) {
      --done_;
      fail(*done[i], ErrorKind::output, printable(outputs[i]) + ": " + kLostReason);
    }
  }

  ProcessOptions options_;
  BatchFiles found_;
  std::vector<bool> is_done_;  // by file
  std::size_t done_ = 0, skipped_ = 0, ended_ = 0;
  std::int64_t pixels_ = 0;
  std::vector<Failure> failures_;
  std::optional<Failure> first_failure_;  // of an image
  std::vector<std::string> warnings_;
  std::unique_ptr<Batch> batch_;
};

template <class Value>
Value option(const nb::dict& options, const char* name) {
  return nb::cast<Value>(options[name]);
}

Format format_of(const std::string& name) {
  const std::optional<Format> format = format_by_name(name);
  if (format && format_info(*format).can_be_written()) return *format;
  std::vector<std::string_view> names;
  for (const FormatInfo& info : format_table()) {
    if (info.can_be_written()) names.push_back(info.name);
  }
  throw Error(ErrorKind::usage, "format: " + none_of(name, names));
}

// Raises MissingFileError for an input that is not there.
void check_exists(const std::string& input) {
  std::error_code unknown;
  if (is_pattern(input) ||
      std::filesystem::symlink_status(input, unknown).type() != std::filesystem::file_type::not_found)
    return;
  raise(exception_of(Error(ErrorKind::input, "cannot open: " + system_reason(ENOENT)), input));
}

// Returns the program's options for the arguments of imgpipe.run_directory(). Other options keep the
// program's defaults.
ProcessOptions options_of(const nb::dict& given) {
  ProcessOptions options;
  options.input.more_paths = expand_ranges(path_of(option<nb::bytes>(given, "input"), "input"));
  options.input.path = options.input.more_paths.front();
  options.input.more_paths.erase(options.input.more_paths.begin());
  if (options.input.more_paths.empty()) check_exists(options.input.path);
  options.input.recursive = option<bool>(given, "recursive");
  options.input.include = option<std::vector<std::string>>(given, "include");
  options.input.exclude = option<std::vector<std::string>>(given, "exclude");
  options.stages.list = option<std::string>(given, "stages");
  options.stages.steps = parse_stages(options.stages.list);
  options.decode.accept = acceptance_of(option<std::string>(given, "accept"));
  options.decode.scale = option<int>(given, "decode_scale");
  OutputOptions& output = options.output;
  output.path = path_of(option<nb::bytes>(given, "output"), "output");
  if (const auto format = option<std::optional<std::string>>(given, "format"))
    output.format = format_of(*format);
  if (const auto name = option<std::optional<std::string>>(given, "name")) {
    check_no_null(*name, "name");
    output.name.emplace(*name);
    output.name->check_format(output.format);
    if (!output.format) output.format = format_by_ending(*name);
  }
  output.encode.mark = Mark::result;
  if (const auto quality = option<std::optional<int>>(given, "quality")) output.encode.quality = *quality;
  output.keep_metadata = option<bool>(given, "metadata");
  if (option<bool>(given, "overwrite")) output.replace = Replace::all;
  output.skip_existing = option<bool>(given, "skip_existing");
  options.decode.max_pixels = option<std::int64_t>(given, "max_pixels");
  options.execution.device = option<std::string>(given, "device");
  if (choose_device(options.execution.device).backend == Backend::cuda) check_process();
  options.execution.threads = option<int>(given, "threads");
  options.execution.jobs = option<int>(given, "jobs");
  options.execution.memory_bytes = option<std::int64_t>(given, "memory");
  options.execution.fail_fast = option<bool>(given, "fail_fast");
  DecodeOptions decode = options.decode;
  decode.scale = 1;  // second images are read whole
  warn_of_damage("", without_gil([&options, &decode] {
                   return load_second_images(options.stages.steps,
                                             {.decode = decode, .threads = options.execution.threads});
                 }));
  return options;
}

void check_replaceable(DirectoryRun& run) {
  try {
    without_gil([&run] { run.check_replaceable(); });
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    raise(nb::handle(PyExc_FileExistsError)(EEXIST, python_message(error.what())));
  }
}

// Returns (done, skipped, failed, pixels, warnings). `progress`: None, or called with the numbers of ended
// and of all images.
nb::tuple run_directory(const nb::dict& given, const nb::object& progress) {
  DirectoryRun run(options_of(given));
  without_gil([&] { run.plan(); });
  check_replaceable(run);
  without_gil([&] { run.start(); });
  try {
    for (bool is_working = run.total() > 0; is_working;) {
      is_working = without_gil([&] { return run.work(); });
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!progress.is_none()) progress(run.ended(), run.total());
    }
  } catch (const nb::python_error&) {
    (void)without_gil([&] { return error_of([&] { run.stop(); }); });
    throw;
  }
  without_gil([&] { run.finish(); });
  if (const std::optional<Failure>& failure = run.first_failure();
      failure && option<bool>(given, "fail_fast")) {
    raise(exception_of(Error(failure->kind, failure->reason), failure->path));
  }
  return run.summary();
}

}  // namespace

void bind_directories(nb::module_& module) {
  module.def("list_images", &list_images, nb::arg("directory"),
             nb::sig("def list_images(directory: bytes) -> tuple[list[str], list[tuple[str, str]]]"));
  module.def("run_directory", &run_directory, nb::arg("options"), nb::arg("progress").none(),
             nb::sig("def run_directory(options: dict[str, typing.Any], progress: typing.Any) -> "
                     "tuple[int, int, list[tuple[str, str]], int, list[str]]"));
}

}  // namespace imgpipe::python
