#include "app/batch/one_image.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/batch/batch_files.h"
#include "app/batch/glob.h"
#include "app/batch/page_outputs.h"
#include "app/standard_streams.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/text.h"
#include "pipeline/jobs/name_pieces.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

// What one file as OUTPUT cannot have: more than one input, or a place among several.
constexpr std::string_view kNeedDirectory[] = {"--recursive", "--include", "--exclude",
                                               "--shard",     "--balance", "--failed-out"};

bool is_directory(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool goes_into_directory(const ProcessOptions& options) {
  if (options.output == kStandardStream) return false;
  return options.name || options.output.ends_with('/') || is_directory(options.output);
}

bool is_report_of_lines(const std::string& report) {
  return report.ends_with(".ndjson");
}

bool has_report_of_lines(const ProcessOptions& options) {
  return std::ranges::any_of(options.report_files, is_report_of_lines);
}

bool stands_for_many(const ProcessOptions& options) {
  if (!options.batch.files_from.empty() || !options.batch.more_inputs.empty()) return true;
  if (options.input == kStandardStream) return false;
  std::error_code error;
  return fs::exists(options.input, error) ? is_directory(options.input) : is_pattern(options.input);
}

[[noreturn]] void need_directory(const ProcessOptions& options, const std::string& option) {
  throw Error(ErrorKind::usage, option + " needs a directory as OUTPUT, and " + output_name(options.output) +
                                    " is one file; end OUTPUT with / to create a directory");
}

}  // namespace

bool is_batch(const ProcessOptions& options) {
  if (stands_for_many(options)) return true;
  if (options.input == kStandardStream || !goes_into_directory(options)) return false;
  return !options.batch.given.empty() || has_report_of_lines(options);
}

bool is_reported_as_image(const ProcessOptions& options) {
  if (stands_for_many(options) || has_report_of_lines(options)) return false;
  return !options.report_files.empty() || options.compare || options.repeat > 0 ||
         options.device_memory_bytes > 0 || !options.histogram_file.empty() ||
         !options.keep_stages_folder.empty();
}

ProcessOptions with_output_file(ProcessOptions options) {
  if (options.output == kStandardStream) {
    if (options.name) throw Error(ErrorKind::usage, "--name is of files in a folder, and OUTPUT is stdout");
    return options;
  }
  if (!goes_into_directory(options)) return options;
  const bool is_stream = options.input == kStandardStream;
  if (is_stream && !options.name)
    throw Error(ErrorKind::usage, "stdin has no name for a file in " + printable(options.output) +
                                      "; name the file, or add --name 'NAME.png'");
  // The kernel would look for a directory after the slash.
  std::error_code error;
  if (!is_directory(options.output) &&
      fs::exists(options.output.substr(0, options.output.find_last_not_of('/') + 1), error))
    throw Error(ErrorKind::usage, printable(options.output) + ": not a directory");
  const NameTemplate& name = options.name ? *options.name : NameTemplate::preset(options.batch.recursive);
  const std::string tree = is_stream ? "" : tree_of_input(options.input);
  options.output_is_listed = false;
  std::string folder = std::exchange(
      options.output,
      name.place(options.output, {options.input, tree}, options.format, page_in_name(options)).path);
  // A name may have folders of its own; where {page} is in them, the last one that all have.
  const bool named_pages = options.pages && options.pages->named;
  if (named_pages) {
    folder = folder_of_pages(options.output);
  } else if (options.name || options.batch.recursive) {
    folder = fs::path(options.output).parent_path().string();
  }
  if (named_pages || !is_directory(folder)) options.new_folder = folder;
  return options;
}

void check_options_of_one_file(const ProcessOptions& options) {
  for (const std::string& option : options.batch.given) {
    if (std::ranges::find(kNeedDirectory, option) != std::end(kNeedDirectory))
      need_directory(options, option);
  }
  const auto lines = std::ranges::find_if(options.report_files, is_report_of_lines);
  if (lines != options.report_files.end()) need_directory(options, "--report " + printable(*lines));
}

bool has_output(const ProcessOptions& options, Format format) {
  if (has_page_files(options, format)) {
    BatchFile file;
    file.input = options.input;
    file.output = options.output;
    file.format = format;
    return has_all_pages(options, file);
  }
  std::error_code error;
  return fs::is_regular_file(options.output, error) && fs::file_size(options.output, error) > 0;
}

}  // namespace imgpipe
