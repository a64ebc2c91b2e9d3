#include "app/update/batch_update.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "app/batch/page_outputs.h"
#include "app/files/replaceable.h"
#include "app/image/image_set_up.h"
#include "app/result_files.h"
#include "app/standard_streams.h"
#include "app/update/stamp_file.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/files/file_identity.h"
#include "images/text.h"
#include "pipeline/jobs/name_pieces.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> outputs_of(const ProcessOptions& options, const BatchFile& file) {
  return has_page_files(options, file.format) ? page_files(options, file)
                                              : std::vector<std::string>{file.output};
}

std::string folder_of(const ProcessOptions& options, bool is_batch) {
  if (is_batch) return options.output.path;
  // A name with {page} in it has its braces doubled, and perhaps a folder for each page.
  if (options.pages && options.pages->named) return folder_of_pages(options.output.path);
  return fs::path(options.output.path).parent_path().string();
}

// A report on stdout is wanted anew each time, and so are times and comparisons.
bool has_all_results(const ProcessOptions& options) {
  if (options.reports.compare || options.reports.repeat > 0) return false;
  const auto is_there = [](const std::string& path) {
    std::error_code unknown;
    return path != kStandardStream && fs::exists(path, unknown);
  };
  const std::vector<ResultFile> results = result_files(options);
  const auto is_made = [&](const ResultFile& result) {
    return result.option == kWritePreset || is_there(result.path);  // that one is written without a run
  };
  return std::ranges::all_of(results, is_made) &&
         (options.reports.stages_folder.empty() || is_there(options.reports.stages_folder));
}

}  // namespace

std::string stamp_file(const ProcessOptions& options, bool is_batch) {
  return stamp_file_in(folder_of(options, is_batch));
}

void judge_updates(const ProcessOptions& options, BatchFiles& found, bool is_batch) {
  check_stamp_file(stamp_file(options, is_batch), options.output.replace);
  OptionsDigests digests(options);
  const auto item = [&](std::size_t i) {
    const BatchFile& file = found.files[i];
    return UpdateItem{file.input, outputs_of(options, file), digests.of(file.format)};
  };
  UpdateVerdicts verdicts = judge_updates(folder_of(options, is_batch), found.files.size(), item);
  for (std::size_t i = 0; i < found.files.size(); ++i) {
    found.files[i].update = verdicts.items[i].state;
    found.files[i].input_state = verdicts.items[i].input_state;
  }
  found.stamped_outputs = std::move(verdicts.stamped_outputs);
}

UpdateStamps::UpdateStamps(const ProcessOptions& options, bool is_batch)
    : options_(options),
      digests_(options),
      names_(folder_of(options, is_batch)),
      file_(open_stamps(stamp_file(options, is_batch), options.output.sync.get())) {
  compact_stamps(stamp_file(options, is_batch), options.shard.has_value());
}

void UpdateStamps::add(const BatchFile& file) {
  if (!file.input_state) return;
  file_.add(stamp_lines(names_, {file.input, outputs_of(options_, file), digests_.of(file.format)},
                        *file.input_state));
}

ImageUpdate::ImageUpdate(const ProcessOptions& options) : options_(options) {
  std::error_code unknown;
  const auto is_odd = [&](const std::string& path) {
    return path == kStandardStream || descriptor_of(path) ||
           (fs::exists(path, unknown) && !fs::is_regular_file(path, unknown));
  };
  if (is_odd(options.input.path))
    throw Error(ErrorKind::usage, "--update: " + input_name(options.input.path) + ": is no regular file");
  if (is_odd(options.output.path))
    throw Error(ErrorKind::usage, "--update: " + output_name(options.output.path) + ": is no regular file");
  BatchFiles found;
  file_.input = options.input.path;
  file_.output = options.output.path;
  file_.format = output_format(options.output.path, options.output.format);
  found.files.push_back(file_);
  judge_updates(options, found, false);
  file_ = found.files.front();
  const Mark mark = mark_for(options.output.encode, image_files(options, ""));
  // What one of several pages may replace, every one may: a file of another origin among them is refused.
  const auto may_be_replaced = [&](const std::string& output) {
    return found.stamped_outputs.contains(output) ||
           why_no_image(output, options.output.replace, mark, options.input.path).empty();
  };
  is_stamped_ =
      !found.stamped_outputs.empty() && std::ranges::all_of(outputs_of(options, file_), may_be_replaced);
}

bool ImageUpdate::is_done() const {
  return state() == UpdateState::up_to_date && has_all_results(options_);
}

void ImageUpdate::stamp() const {
  if (!file_.input_state) return;
  UpdateStamps stamps(options_, false);
  stamps.add(file_);
  stamps.close();
  options_.output.sync->sync_names();
}

}  // namespace imgpipe
