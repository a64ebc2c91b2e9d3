#include "app/image/one_input.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/exit_code.h"
#include "app/files/text_file.h"
#include "app/image/image_run.h"
#include "app/image/image_set_up.h"
#include "app/image/image_update.h"
#include "app/jobs/batch_files.h"
#include "app/jobs/glob.h"
#include "app/jobs/input_search.h"
#include "app/jobs/output_plan.h"
#include "app/jobs/page_outputs.h"
#include "app/jobs/result_files.h"
#include "app/jobs/search_report.h"
#include "app/log.h"
#include "app/process_options/options_digest.h"
#include "app/report/report_names.h"
#include "app/standard_streams.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/text.h"
#include "pipeline/jobs/name_segments.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

// Options that concern several inputs and therefore contradict a single file as OUTPUT.
constexpr std::string_view kNeedDirectory[] = {"--recursive", "--include", "--exclude",
                                               "--shard",     "--balance", "--failed-out"};

bool is_directory(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool goes_into_directory(const ProcessOptions& options) {
  if (options.output.path == kStandardStream) return false;
  return options.output.name || options.output.path.ends_with('/') || is_directory(options.output.path);
}

bool is_report_of_lines(const std::string& report) {
  return report.ends_with(".ndjson");
}

bool has_report_of_lines(const ProcessOptions& options) {
  return std::ranges::any_of(options.reports.files, is_report_of_lines);
}

bool has_many_inputs(const ProcessOptions& options) {
  if (!options.input.files_from.empty() || !options.input.more_paths.empty()) return true;
  if (options.input.path == kStandardStream) return false;
  std::error_code error;
  return fs::exists(options.input.path, error) ? is_directory(options.input.path)
                                               : is_pattern(options.input.path);
}

[[noreturn]] void reject_file_as_output(const ProcessOptions& options, const std::string& option) {
  throw Error(ErrorKind::usage, option + ": needs a directory as OUTPUT, got the file " +
                                    output_name(options.output.path) +
                                    "; end OUTPUT with / to create a directory");
}

// Rejects batch options that make no sense for one file.
void check_options_of_one_file(const ProcessOptions& options) {
  for (const std::string& option : options.batch_options) {
    if (std::ranges::find(kNeedDirectory, option) != std::end(kNeedDirectory))
      reject_file_as_output(options, option);
  }
  const auto lines = std::ranges::find_if(options.reports.files, is_report_of_lines);
  if (lines != options.reports.files.end()) reject_file_as_output(options, "--report " + printable(*lines));
}

// For --skip-existing: returns true if every output file exists and is not empty.
bool has_output(const ProcessOptions& options, Format format) {
  const BatchFile file = file_of(options, format);
  if (has_page_files(options, format)) return has_all_pages(options, file);
  return std::ranges::all_of(output_paths(file), [](const std::string& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && fs::file_size(path, error) > 0;
  });
}

// "a.png, a.thumb.png"
std::string outputs_text(const ProcessOptions& options) {
  std::string text = output_name(options.output.path);
  for (const std::string& path : options.output.also) text += ", " + output_name(path);
  return text;
}

// Identifies the inputs of a projection and their states.
std::string states_of(const std::vector<ItemInput>& inputs) {
  std::string text;
  for (const ItemInput& input : inputs) {
    const std::optional<FileState> state = file_state(input.path);
    text += input.path + std::string(1, '\0');
    if (state) text += std::to_string(state->bytes) + " " + std::to_string(state->modified_ns) + "\n";
  }
  return sha256(text);
}

// For --dry-run: " (median of 20 files)"; empty without --stack.
std::string inputs_text(const ProcessOptions& options) {
  if (!options.stack) return "";
  const std::size_t files = options.stack->inputs.size();
  return " (" + std::string(options.stack->montage ? "montage " : "") + stack_text(*options.stack) + " of " +
         (files == 1 ? "its pages" : std::to_string(files) + " files") + ")";
}

int update_one(ProcessOptions options, const EngineFactory& factory) {
  ProcessOptions stamped = options;
  const bool of_many = stamped.stack && stamped.stack->inputs.size() > 1;
  if (of_many) {
    stamped.input.path = stamped.stack->inputs.front().path;
    stamped.stack->input_states = states_of(stamped.stack->inputs);
  }
  const ImageUpdate update(stamped);
  if (update.is_done()) {
    if (!options.logging.quiet)
      print_table(output_name(options.output.path) + ": up to date\n", reports_to_stdout(options));
    return kExitDone;
  }
  if (update.state() != UpdateState::up_to_date)
    log_detail(output_name(options.output.path) + ": needs an update; " +
               std::string(of_many && update.state() == UpdateState::options_changed
                               ? "the options or an input changed"
                               : update_reason(update.state())));
  options.output.is_stamped = update.is_stamped();
  const int code = run_input(options, factory);
  if (code == kExitDone) update.stamp();
  return code;
}

}  // namespace

bool is_batch(const ProcessOptions& options) {
  if (has_many_inputs(options) || options.output.is_tensor || options.output.is_archive) return true;
  if (options.input.path == kStandardStream || !goes_into_directory(options)) return false;
  return !options.batch_options.empty() || has_report_of_lines(options);
}

bool is_reported_as_image(const ProcessOptions& options) {
  if (has_many_inputs(options) || options.output.is_tensor || options.output.is_archive ||
      has_report_of_lines(options))
    return false;
  return !options.reports.files.empty() || options.reports.compare || options.reports.repeat > 0 ||
         options.device_memory_bytes > 0 || !options.reports.histogram_file.empty() ||
         !options.reports.stages_directory.empty();
}

ProcessOptions with_output_file(ProcessOptions options) {
  if (options.output.path == kStandardStream) {
    if (options.output.name) throw Error(ErrorKind::usage, "--name: needs a directory as OUTPUT, got stdout");
    if (!options.stages.also.empty())
      throw Error(ErrorKind::usage, "--also: needs a file or a directory as OUTPUT, got stdout");
    return options;
  }
  if (!goes_into_directory(options)) {
    NamedOutputs outputs = named_outputs(options, nullptr, {});
    options.output.path = std::move(outputs.main.path);
    options.output.also = std::move(outputs.also);
    return options;
  }
  const bool is_stream = options.input.path == kStandardStream;
  if (is_stream && !options.output.name)
    throw Error(
        ErrorKind::usage,
        printable(options.output.path) +
            ": is a directory, but stdin has no name for the output; name the file or add --name 'NAME.png'");
  // A path with a trailing slash would fail in the kernel; test the name without it.
  std::error_code error;
  if (!is_directory(options.output.path) &&
      fs::exists(options.output.path.substr(0, options.output.path.find_last_not_of('/') + 1), error))
    throw Error(ErrorKind::usage, printable(options.output.path) + ": not a directory");
  const NameTemplate& name =
      options.output.name ? *options.output.name : NameTemplate::preset(options.input.recursive);
  const std::string tree = is_stream ? "" : tree_of_input(options.input.path);
  options.output.is_positional = false;
  NamedOutputs outputs = named_outputs(options, &name, {options.input.path, tree});
  options.output.also = std::move(outputs.also);
  std::string directory = std::exchange(options.output.path, std::move(outputs.main.path));
  // A name may contain directories. If {page} is in one of them, take the last directory common to all pages.
  const bool named_pages = options.pages && options.pages->named;
  if (named_pages) {
    directory = directory_of_pages(options.output.path);
  } else if (options.output.name || options.input.recursive) {
    directory = fs::path(options.output.path).parent_path().string();
  }
  if (named_pages || !is_directory(directory)) options.output.new_directory = directory;
  return options;
}

ProcessOptions with_stack_inputs(ProcessOptions options) {
  StackOptions& stack = *options.stack;
  if (!has_many_inputs(options)) {
    stack.inputs = {{options.input.path, input_name(options.input.path)}};
    return with_output_file(std::move(options));
  }
  if (goes_into_directory(options))
    throw Error(ErrorKind::usage, output_name(options.output.path) +
                                      ": is a directory, but all inputs become one image; name a file");
  const BatchFiles found = search_inputs(options.input);
  log_search(found);
  if (!found.problems.empty()) throw Error(ErrorKind::input, found.problems.front().text());
  if (found.files.empty()) throw Error(ErrorKind::usage, nothing_found_text(options.input, found));
  for (const BatchFile& file : found.files) stack.inputs.push_back({file.input, printable(file.input)});
  if (options.input.path.empty()) options.input.path = options.input.files_from;
  options.batch_options.clear();
  return options;
}

int run_image(const ProcessOptions& options, const EngineFactory& factory) {
  check_options_of_one_file(options);
  const Format format = output_format(options.output.path, options.output.format);
  const bool is_left = options.output.skip_existing && has_output(options, format);
  if (options.dry_run) {
    FilesInUse in_use;
    if (!is_left) check_paths(options, format, in_use);
    print_text((is_left ? "0 to do, 1 skipped"
                        : input_name(options.input.path) + inputs_text(options) + " -> " +
                              outputs_text(options) + "\n1 to do, 0 skipped") +
               ", stages " + printable(options.stages.list) + "\n");
    return kExitDone;
  }
  if (is_left) {
    if (!options.logging.quiet)
      print_table(output_name(options.output.path) + ": already exists; skipped\n",
                  reports_to_stdout(options));
    return kExitDone;
  }
  return options.output.update ? update_one(options, factory) : run_input(options, factory);
}

}  // namespace imgpipe
