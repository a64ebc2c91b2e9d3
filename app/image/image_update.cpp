#include "app/image/image_update.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/files/replaceable.h"
#include "app/image/image_set_up.h"
#include "app/jobs/result_files.h"
#include "app/jobs/updates.h"
#include "app/options/coding_options.h"
#include "app/standard_streams.h"
#include "images/error.h"
#include "images/files/file.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

// Times, comparisons and reports on stdout are never up to date: they are produced on every run.
bool has_all_results(const ProcessOptions& options) {
  if (options.reports.compare || options.reports.repeat > 0) return false;
  const auto is_there = [](const std::string& path) {
    std::error_code unknown;
    return path != kStandardStream && fs::exists(path, unknown);
  };
  const std::vector<ResultFile> results = result_files(options);
  const auto is_made = [&](const ResultFile& result) {
    return result.option == kWritePreset || is_there(result.path);  // that file is written before the run
  };
  return std::ranges::all_of(results, is_made) &&
         (options.reports.stages_directory.empty() || is_there(options.reports.stages_directory));
}

}  // namespace

ImageUpdate::ImageUpdate(const ProcessOptions& options) : options_(options) {
  if (!is_or_becomes_regular_file(options.input.path))
    throw Error(ErrorKind::usage, input_name(options.input.path) +
                                      ": not a regular file; --update supports only regular files");
  if (!is_or_becomes_regular_file(options.output.path))
    throw Error(ErrorKind::usage, output_name(options.output.path) +
                                      ": not a regular file; --update supports only regular files");
  BatchFiles found;
  found.files.push_back(file_of(options, output_format(options.output.path, options.output.format)));
  determine_updates(options, found, false);
  file_ = std::move(found.files.front());
  const Mark mark = mark_for(options.output.encode, image_files(options, ""));
  // All page files must be replaceable, so that even a single file of another origin is refused.
  const auto may_be_replaced = [&](const std::string& output) {
    return found.stamped_outputs.contains(output) ||
           image_refusal_reason(output, options.output.replace, mark, options.input.path).empty();
  };
  is_stamped_ =
      !found.stamped_outputs.empty() && std::ranges::all_of(outputs_of(options, file_), may_be_replaced);
}

bool ImageUpdate::is_done() const {
  return state() == UpdateState::up_to_date && has_all_results(options_);
}

void ImageUpdate::stamp() const {
  if (!file_.update->input_state) return;
  UpdateStamps stamps(options_, false);
  stamps.add(file_);
  stamps.close();
  options_.output.sync->sync_names();
}

}  // namespace imgpipe
