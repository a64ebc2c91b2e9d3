#include "app/batch/batch_plan.h"

#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "app/files/text_file.h"
#include "app/image/one_input.h"
#include "app/jobs/archive_files.h"
#include "app/jobs/page_outputs.h"
#include "app/process_options/tensor_options.h"
#include "app/shard/shard.h"
#include "app/standard_streams.h"
#include "app/update/up_to_date.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/text.h"

namespace imgpipe {

void check_batch_options(const ProcessOptions& options) {
  if (is_reported_as_image(options)) return;
  const std::pair<bool, const char*> rows[] = {{options.reports.compare, "--compare"},
                                               {options.reports.repeat > 0, "--repeat"},
                                               {options.device_memory_bytes > 0, "--device-memory"},
                                               {!options.reports.histogram_file.empty(), "--histogram"},
                                               {!options.reports.stages_directory.empty(), "--keep-stages"}};
  for (const auto& [given, name] : rows) {
    if (given)
      throw Error(ErrorKind::usage, std::string(name) + ": not supported in a batch; process a single image");
  }
  if (options.shard && options.shard->balance != Balance::hash && !options.reports.failed_file.empty() &&
      same_file(options.reports.failed_file, options.input.files_from))
    throw Error(ErrorKind::usage, "--failed-out " + printable(options.reports.failed_file) +
                                      ": is also the --files-from list, which must not change with --balance "
                                      "count or bytes; name another file");
  if (options.output.path == kStandardStream && !options.output.is_archive)
    throw Error(ErrorKind::usage, "OUTPUT: a batch needs a directory, got stdout");
  if (options.shard && options.output.is_archive && makes_one_archive(options))
    throw Error(ErrorKind::usage, "--shard: needs a directory as OUTPUT, got " +
                                      output_name(options.output.path) +
                                      "; end OUTPUT with / to create a directory");
  for (const std::string& file : options.reports.files) {
    if (file.ends_with(".html"))
      throw Error(ErrorKind::usage,
                  "--report " + printable(file) +
                      ": .html is for a single image; a batch report must end in .json, .ndjson or .csv");
    if (file.ends_with(".csv") && options.shard)
      throw Error(ErrorKind::usage,
                  "--report " + printable(file) + ": the report of a shard must end in .ndjson or .json");
  }
}

void check_output_formats(const ProcessOptions& options, const BatchFiles& files) {
  std::set<Format> checked;
  for (const BatchFile& file : files.files) {
    if (checked.insert(file.format).second) check_output_holds(options, file.format, printable(file.output));
  }
}

void print_dry_run(const ProcessOptions& options, const BatchFiles& files, const BatchTotals& totals) {
  constexpr std::size_t kPrinted = std::size_t{1} << 16;  // bytes at a time
  std::string text;
  for (const BatchFile& file : files.files) {
    text += printable(file.input) + " -> " + printable(output_text(options, file));
    if (options.output.update) text += ": " + std::string(update_reason(file.update->state));
    text += "\n";
    if (text.size() >= kPrinted) print_text(std::exchange(text, {}));
  }
  text += std::to_string(files.files.size()) + " to do, " + std::to_string(totals.skipped) + " " +
          totals.skipped_label + ", stages " + printable(options.stages.list);
  if (options.shard) text += ", " + std::to_string(files.other_shards) + " for other shards";
  text += "\n";
  if (!totals.shard.empty()) text += totals.shard + "\n";
  if (files.skipped_inputs.files() > 0) text += "skipped files: " + files.skipped_inputs.text() + "\n";
  if (!totals.note.empty()) text += totals.note + "\n";
  print_text(text);
}

}  // namespace imgpipe
