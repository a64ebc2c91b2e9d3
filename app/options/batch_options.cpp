#include "app/options/batch_options.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "app/options/name_ranges.h"
#include "app/options/option_parser.h"
#include "app/options/sizes.h"
#include "pipeline/threads/host_threads.h"

namespace imgpipe {

std::vector<OptionRow> batch_rows() {
  return {
      {"Batches", "r,recursive", nullptr, nullptr,
       "Include subdirectories of INPUT; OUTPUT gets the same tree"},
      {"Batches", "include", "GLOB", nullptr,
       "Process only matching files (default: files with an image extension). GLOB/ selects the images in "
       "matching directories. May be repeated. Patterns, here and as INPUT: * ? [a-z] [!a-z] {a,b}, ** for "
       "any directories, \\x for a literal x. INPUT may also have ranges: {0000..0099}. A pattern without / "
       "matches a name in any directory; with /, "
       "the path below INPUT; ./x and /x match only directly in INPUT. Extensions match in upper and lower "
       "case. In tar archives: process only matching members, and copy the others"},
      {"Batches", "exclude", "GLOB", nullptr,
       "Skip matching files, and matching directories with their contents; GLOB/ matches only directories; "
       "may be repeated"},
      {"Batches", "files-from", "FILE", nullptr,
       "Read the names of inputs from FILE (- is stdin), one per line or NUL-terminated. If INPUT is a "
       "directory, names are relative to it; with several INPUTs or a pattern, only the files with these "
       "paths are processed"},

      {"Batches", "j,jobs", "N", "0", "Number of images processed at a time; 0: as many as threads"},
      {"Batches", "memory", "SIZE", nullptr,
       "Memory for images, such as 500M, 1.5G or 64MiB; default: half of what is available"},
      {"Batches", "skip-existing", nullptr, nullptr,
       "Skip images whose output already exists; a .ndjson report is continued"},
      {"Batches", "fail-fast", nullptr, nullptr, "Stop after the first image that fails"},
      {"Batches", "failed-out", "FILE", nullptr,
       "Write the names of the images that failed; the same command with --files-from FILE retries them"},
      {"Batches", "shard", "I/N", nullptr,
       "Process only part I of N, counted from 1; stderr names the part, even with -q. auto: from srun, "
       "mpirun or a job array; auto/N: if the array does not provide the number of parts, or if only some of "
       "its tasks are rerun"},
      {"Batches", "balance", "HOW", nullptr,
       "How to balance the parts of --shard: hash (default; a file's part depends only on its name), count "
       "(files), bytes (the largest first, each to the smallest part). count and bytes need the same files "
       "and sizes in all processes, until all have ended; retry their failures (--failed-out) without "
       "--shard",
       choice_names(kBalances)},
      {"Batches", "n,dry-run", nullptr, nullptr, "Print what would be done"},
  };
}

InputOptions read_input(const Parser& parser) {
  InputOptions input;
  input.files_from = parser.name_or_empty("files-from");
  input.recursive = parser.has("recursive");
  input.include = parser.texts("include");
  input.exclude = parser.texts("exclude");
  input.is_exclude_from_preset = parser.given().is_from_preset("exclude");
  return input;
}

void set_paths(InputOptions& input, const std::vector<std::string>& paths, const char* what) {
  if (std::ranges::find(paths, "") != paths.end()) usage(std::string(what) + ": empty name");
  if (paths.empty()) return;
  for (const std::string& path : paths) {
    std::vector<std::string> names = expand_ranges(path);
    std::ranges::move(names, std::back_inserter(input.more_paths));
  }
  input.path = std::move(input.more_paths.front());
  input.more_paths.erase(input.more_paths.begin());
}

ExecutionOptions read_execution(const Parser& parser) {
  ExecutionOptions execution;
  execution.jobs = parser.integer("jobs", 0, kMaxThreads);
  if (parser.has("memory")) execution.memory_bytes = parse_memory(parser.text("memory"));
  execution.fail_fast = parser.has("fail-fast");
  return execution;
}

std::optional<Shard> read_shard(const Parser& parser) {
  std::optional<Shard> shard;
  if (parser.has("shard"))
    shard = parse_shard(parser.text("shard"), [](const char* name) {
      const char* value = std::getenv(name);
      return value == nullptr ? std::string() : std::string(value);
    });
  if (parser.has("balance")) {
    if (!shard) usage("--balance: needs --shard");
    shard->balance = parse_choice("balance", parser.text("balance"), kBalances);
  }
  return shard;
}

}  // namespace imgpipe
