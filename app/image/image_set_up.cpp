#include "app/image/image_set_up.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "app/devices/calibration.h"
#include "app/files/replaceable.h"
#include "app/image/image_settings.h"
#include "app/jobs/batch_files.h"
#include "app/jobs/output_plan.h"
#include "app/jobs/search_report.h"
#include "app/jobs/updates.h"
#include "app/log.h"
#include "app/process_options/options_digest.h"
#include "app/process_options/tensor_options.h"
#include "app/standard_streams.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/files/file_identity.h"
#include "images/files/output_file.h"
#include "images/text.h"
#include "pipeline/device.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

void check_output_replaceable(const ProcessOptions& options) {
  const ImageFiles files = image_files(options, "");
  const Mark mark = mark_for(options.output.encode, files);
  const Replacement replacement =
      replacement_of(options.output.path, replace_output(options), mark, options.input.path);
  check_replaceable(options.output.path, replacement.cannot_replace_reason);
  // INPUT and OUTPUT may both come from one shell pattern, and a plain mark does not record its source.
  const fs::path input(options.input.path), output(options.output.path);
  if (replacement.replaced == Mark::result && options.output.is_positional &&
      input.parent_path() == output.parent_path() && mark_in(options.input.path).kind == Mark::Kind::result)
    check_replaceable(
        options.output.path,
        "already exists and, like " + printable(options.input.path) +
            ", is a result of an unknown input; name it with -o, or use --overwrite to replace it");
  std::size_t made_with_other_options = have_same_options(replacement.replaced, mark) ? 0 : 1;
  for (const AlsoFile& also : files.also) {
    Mark of_also = mark;
    if (of_also.made_of) of_also.made_of->options = also.options;
    const Replacement replaced =
        replacement_of(also.output, replace_output(options), of_also, options.input.path);
    check_replaceable(also.output, replaced.cannot_replace_reason);
    made_with_other_options += have_same_options(replaced.replaced, of_also) ? 0 : 1;
  }
  log_replaced(made_with_other_options);
}

// A stream takes one result.
void check_also(const ProcessOptions& options) {
  if (options.output.also.empty()) return;
  std::vector<std::string> outputs = options.output.also;
  outputs.push_back(options.output.path);
  for (const std::string& path : outputs) {
    if (!is_or_becomes_regular_file(path))
      throw Error(ErrorKind::usage, output_name(path) + ": not a regular file; --also needs regular files");
  }
}

}  // namespace

std::optional<PageRequest> page_request(const ProcessOptions& options) {
  if (!options.pages) return std::nullopt;
  return PageRequest{*options.pages, options.stages.series_steps};
}

ImageFiles image_files(const ProcessOptions& options, std::string name) {
  ImageFiles files{.input = options.input.path,
                   .output = options.output.path,
                   .input_name = std::move(name),
                   .output_name = output_name(options.output.path),
                   .format = output_format(options.output.path, options.output.format)};
  // A stream has no name to record, and a projection of several files has many.
  if (options.stack && options.stack->inputs.size() > 1) return files;
  std::error_code unknown;
  if (fs::is_regular_file(options.input.path, unknown) && !descriptor_of(options.input.path))
    files.made_of = {.name = name_hash(fs::path(options.input.path).filename().string()),
                     .options = options_hash(options, files.format)};
  const std::vector<std::uint64_t> hashes = also_option_hashes(options, files.format);
  for (std::size_t i = 0; i < options.output.also.size(); ++i)
    files.also.push_back({options.output.also[i], hashes[i]});
  return files;
}

BatchFile file_of(const ProcessOptions& options, Format format) {
  BatchFile file;
  file.input = options.input.path;
  file.output = options.output.path;
  file.format = format;
  for (const std::string& path : options.output.also) file.also.push_back({path});
  return file;
}

bool is_or_becomes_regular_file(const std::string& path) {
  std::error_code error;
  return path != kStandardStream && !descriptor_of(path) &&
         (!fs::exists(path, error) || fs::is_regular_file(path, error));
}

int thread_count(const ExecutionOptions& execution) {
  return execution.threads > 0 ? execution.threads : host_threads();
}

void check_paths(const ProcessOptions& options, Format format, FilesInUse& in_use) {
  if (!format_info(format).can_be_written()) {
    throw Error(ErrorKind::usage, output_name(options.output.path) + ": cannot write " +
                                      std::string(format_info(format).name) +
                                      " files; use another extension or --format png");
  }
  check_output_holds(options, format, output_name(options.output.path));
  check_stream(options.output.path);
  in_use.add_input("the input", options.input.path);
  if (options.stack) {
    for (const ItemInput& input : options.stack->inputs) in_use.add_input("an input", input.path);
  }
  in_use.add("OUTPUT", options.output.path);
  check_also(options);
  for (std::size_t i = 0; i < options.output.also.size(); ++i)
    in_use.add("--also " + options.stages.also[i].name, options.output.also[i]);
  for (const auto& [option, path] : result_files(options)) in_use.add(option, path);
  in_use.add("--keep-stages", options.reports.stages_directory);
  if (options.output.update) in_use.add("--update", stamp_file(options, false));
  // Names of page files are checked once their number is known.
  if (!has_page_files(options, format)) check_output_replaceable(options);
  check_results_replaceable(options);
  check_results_writable(options);
}

LogSubject subject_of(const std::string& reason, const ProcessOptions& options) {
  return subject_of(reason, input_name(options.input.path), output_name(options.output.path));
}

void log_plan(const Plan& plan) {
  std::string steps;
  for (const Step& step : plan.steps) steps += " " + step.label;
  log_detail("steps:" + (steps.empty() ? " none" : steps) + " (* inserted by the planner)");
  for (const std::string& note : plan.notes) log_detail(note);
}

EngineChoice::EngineChoice(const ProcessOptions& options, const EngineFactory& factory)
    : options_(options), factory_(factory), choice_(choose_device(options.execution.device)) {}

void EngineChoice::begin() {
  if (choice_.cuda_devices.size() > 1)
    throw Error(ErrorKind::usage,
                "--device: one image needs a single device, got " + printable(options_.execution.device));
  if (choice_.backend) start(thread_count(options_.execution));
}

Engine& EngineChoice::engine(std::int64_t pixels, const std::string& not_on_cuda, bool is_tiny) {
  if (!engine_) {
    const int threads = is_tiny && options_.execution.threads == 0 ? 1 : thread_count(options_.execution);
    choice_ = !not_on_cuda.empty() ? DeviceChoice{Backend::cpu, {}, "auto chose cpu (" + not_on_cuda + ")"}
                                   : choose_for_image(pixels, threads, 1 + options_.reports.repeat);
    start(threads);
  } else if (choice_.backend == Backend::cuda && !not_on_cuda.empty()) {
    throw Error(ErrorKind::usage,
                input_name(options_.input.path) + ": " + not_on_cuda + "; use --device cpu");
  }
  if (!choice_.why.empty()) log_detail(choice_.why);
  return *engine_;
}

void EngineChoice::start(int threads) {
  choice_.memory_bytes = options_.device_memory_bytes;
  threads_ = threads;
  engine_ = factory_(choice_, threads);
}

}  // namespace imgpipe
