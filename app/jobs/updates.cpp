#include "app/jobs/updates.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "app/jobs/output_plan.h"
#include "app/jobs/page_outputs.h"
#include "app/update/stamp_file.h"
#include "pipeline/jobs/name_segments.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

std::string directory_of(const ProcessOptions& options, bool is_batch) {
  if (is_batch) return options.output.path;
  // In a name with {page}, other braces are doubled, and each page may have its own directory.
  if (options.pages && options.pages->named) return directory_of_pages(options.output.path);
  return fs::path(options.output.path).parent_path().string();
}

}  // namespace

std::vector<std::string> outputs_of(const ProcessOptions& options, const BatchFile& file) {
  return has_page_files(options, file.format) ? page_files(options, file) : output_paths(file);
}

std::string stamp_file(const ProcessOptions& options, bool is_batch) {
  return stamp_file_in(directory_of(options, is_batch));
}

void determine_updates(const ProcessOptions& options, BatchFiles& found, bool is_batch) {
  check_stamp_file(stamp_file(options, is_batch), options.output.replace);
  OptionsDigests digests(options);
  const auto item = [&](std::size_t i) {
    const BatchFile& file = found.files[i];
    return UpdateItem{file.input, outputs_of(options, file), digests.of(file.format)};
  };
  UpdateResults verdicts = determine_updates(directory_of(options, is_batch), found.files.size(), item);
  for (std::size_t i = 0; i < found.files.size(); ++i)
    found.files[i].update = std::make_unique<const UpdateResult>(verdicts.items[i]);
  found.stamped_outputs = std::move(verdicts.stamped_outputs);
}

UpdateStamps::UpdateStamps(const ProcessOptions& options, bool is_batch)
    : options_(options),
      digests_(options),
      names_(directory_of(options, is_batch)),
      file_(open_stamps(stamp_file(options, is_batch), options.output.sync.get())) {
  compact_stamps(stamp_file(options, is_batch), options.shard.has_value());
}

void UpdateStamps::add(const BatchFile& file) {
  if (!file.update->input_state) return;
  file_.add(stamp_lines(names_, {file.input, outputs_of(options_, file), digests_.of(file.format)},
                        *file.update->input_state));
}

}  // namespace imgpipe
