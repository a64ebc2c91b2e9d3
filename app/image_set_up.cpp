#include "app/image_set_up.h"

#include <filesystem>

#include "app/batch/batch_files.h"
#include "app/devices/calibration.h"
#include "app/files/replaceable.h"
#include "app/image_settings.h"
#include "app/log.h"
#include "app/standard_streams.h"
#include "app/update/batch_update.h"
#include "images/error.h"
#include "images/text.h"

namespace imgpipe {
namespace {

void check_output_replaceable(const ProcessOptions& options) {
  const Mark mark = mark_for(options.output.encode, image_files(options, ""));
  const Replacement replacement =
      replacement_of(options.output.path, replace_output(options), mark, options.input.path);
  check_replaceable(options.output.path, replacement.why_not);
  // A shell may have made both names of one pattern, and which source a plain mark had is not known.
  const std::filesystem::path input(options.input.path), output(options.output.path);
  if (replacement.replaced == Mark::result && options.output.is_listed &&
      input.parent_path() == output.parent_path() && mark_in(options.input.path).kind == Mark::Kind::result)
    check_replaceable(options.output.path, "is a result, as " + printable(options.input.path) +
                                               " is, and of which input is not known; name it with -o, or "
                                               "--overwrite replaces it");
  log_replaced(were_made_alike(replacement.replaced, mark) ? 0 : 1);
}

}  // namespace

void log_replaced(std::size_t results) {
  if (results == 0) return;
  log_notice(results == 1
                 ? "replaces 1 result that was made with other options"
                 : "replaces " + std::to_string(results) + " results that were made with other options");
}

void check_paths(const ProcessOptions& options, Format format, FilesInUse& in_use) {
  if (!format_info(format).writable) {
    throw Error(ErrorKind::usage, output_name(options.output.path) + ": cannot write " +
                                      std::string(format_info(format).name) +
                                      " files; name another ending or --format png");
  }
  check_stream(options.output.path);
  in_use.add_input("the input", options.input.path);
  in_use.add("OUTPUT", options.output.path);
  for (const auto& [option, path] : result_files(options)) in_use.add(option, path);
  in_use.add("--keep-stages", options.reports.stages_folder);
  if (options.output.update) in_use.add("--update", stamp_file(options, false));
  // Pages with files of their own get names that are judged when their number is known.
  if (!has_page_files(options, format)) check_output_replaceable(options);
  check_results_replaceable(options);
  check_results_writable(options);
}

LogSubject subject_of(const std::string& reason, const ProcessOptions& options) {
  return subject_of(reason, input_name(options.input.path), output_name(options.output.path));
}

void say_plan(const Plan& plan) {
  std::string steps;
  for (const Step& step : plan.steps) steps += " " + step.label;
  log_detail("steps:" + (steps.empty() ? " none" : steps) + " (* put in by the plan)");
  for (const std::string& note : plan.notes) log_detail(note);
}

EngineChoice::EngineChoice(const ProcessOptions& options, const EngineFactory& factory)
    : options_(options), factory_(factory), choice_(choose_device(options.execution.device)) {}

void EngineChoice::begin() {
  if (choice_.cuda_devices.size() > 1)
    throw Error(ErrorKind::usage,
                "--device: one image goes to one device, not to " + printable(options_.execution.device));
  if (choice_.kind != DeviceKind::automatic) start();
}

Engine& EngineChoice::engine(std::int64_t pixels, const std::string& not_on_cuda) {
  if (!engine_) {
    choice_ = !not_on_cuda.empty()
                  ? DeviceChoice{DeviceKind::cpu, {}, "auto took cpu (" + not_on_cuda + ")"}
                  : choose_for_image(pixels, thread_count(options_.execution), 1 + options_.reports.repeat);
    start();
  } else if (choice_.kind == DeviceKind::cuda && !not_on_cuda.empty()) {
    throw Error(ErrorKind::usage,
                input_name(options_.input.path) + ": " + not_on_cuda + "; see --device cpu");
  }
  if (!choice_.why.empty()) log_detail(choice_.why);
  return *engine_;
}

void EngineChoice::start() {
  choice_.memory_bytes = options_.device_memory_bytes;
  engine_ = factory_(choice_, thread_count(options_.execution));
}

}  // namespace imgpipe
