// Options of commands that process many files: inputs, device, memory, number of images at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/options/option_row.h"
#include "app/shard/shard.h"

namespace imgpipe {

class Parser;

struct InputOptions {
  std::string path;                     // INPUT; empty with --files-from alone
  std::vector<std::string> more_paths;  // further INPUTs
  std::string files_from;               // a list of inputs; "-": stdin
  bool recursive = false;
  std::vector<std::string> include, exclude;  // patterns (app/jobs/glob.h)
  bool is_exclude_from_preset =
      false;  // meant for many directories: patterns without a match are not reported
};

struct ExecutionOptions {
  std::string device = "cpu";
  int threads = 0;                // 0: as many as are available
  int jobs = 0;                   // images at a time; 0: as many as threads
  std::int64_t memory_bytes = 0;  // 0: half of what is available
  bool fail_fast = false;
};

[[nodiscard]] std::vector<OptionRow> batch_rows();
// --recursive, --include, --exclude, --files-from.
[[nodiscard]] InputOptions read_input(const Parser& parser);
// Sets the INPUTs, with all names that ranges stand for (app/options/name_ranges.h). Throws Error(usage) for
// an empty name; `what` is the term for them in the command's help.
void set_paths(InputOptions& input, const std::vector<std::string>& paths, const char* what);
// --jobs, --memory, --fail-fast.
[[nodiscard]] ExecutionOptions read_execution(const Parser& parser);
// --shard, --balance.
[[nodiscard]] std::optional<Shard> read_shard(const Parser& parser);

}  // namespace imgpipe
