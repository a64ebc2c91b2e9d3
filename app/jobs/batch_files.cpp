#include "app/jobs/batch_files.h"

#include <sys/stat.h>

#include "app/jobs/existing_results.h"
#include "app/jobs/input_search.h"
#include "app/jobs/output_plan.h"
#include "app/jobs/result_files.h"
#include "app/jobs/shard_balance.h"
#include "app/jobs/updates.h"
#include "images/error.h"
#include "images/text.h"

namespace imgpipe {

BatchFiles find_batch_files(const ProcessOptions& options) {
  BatchFiles found = search_inputs(options.input, &options.output);
  plan_outputs(options, found);
  if (options.shard) {
    check_results(options, found);
    if (!options.reports.failed_file.empty()) {
      for (const BatchFile& file : found.files) found.names_of_all_shards.emplace(file.name());
    }
    keep_shard(found, *options.shard);
  }
  if (options.output.update) determine_updates(options, found, true);
  found.made_with_other_options = check_replaceable_outputs(options, found);
  return found;
}

BatchFiles find_tensor_inputs(const ProcessOptions& options) {
  const std::vector<std::string>& more = options.input.more_paths;
  struct stat info {};
  if (!more.empty() && ::stat(more.back().c_str(), &info) != 0 && !is_pattern(more.back()) &&
      !format_by_ending(more.back()))
    throw Error(ErrorKind::usage, printable(more.back()) +
                                      ": not found; with --tensor every argument is an "
                                      "INPUT, and FILE is the only output");
  BatchFiles found = search_inputs(options.input, nullptr, true);
  for (BatchFile& file : found.files) {
    file.output = options.output.path;
    file.format = *options.output.format;
  }
  return found;
}

BatchFiles find_inputs(const InputOptions& input, const std::optional<Shard>& shard) {
  BatchFiles found = search_inputs(input);
  if (shard) keep_shard(found, *shard);
  return found;
}

}  // namespace imgpipe
