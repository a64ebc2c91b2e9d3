#include "app/options/batch_options.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "app/options/option_parser.h"
#include "app/options/sizes.h"
#include "pipeline/threads/host_threads.h"

namespace imgpipe {

std::vector<OptionRow> batch_rows() {
  return {
      {"Batches", "r,recursive", nullptr, nullptr, "Folders below INPUT too; OUTPUT gets the same tree"},
      {"Batches", "include", "GLOB", nullptr,
       "Only files like this (instead of those with an image's ending), or with / at its end the images in "
       "folders like this; may be repeated. Of patterns, here and as INPUT: * ? [a-z] [!a-z] {a,b}, ** for "
       "any folders, \\x for x itself. Without / a name in any folder; with / the path below INPUT, ./x or "
       "/x at its top. Endings match in either case"},
      {"Batches", "exclude", "GLOB", nullptr,
       "No files and no folders like this, nor what lies in them; with / at its end folders only; may be "
       "repeated"},
      {"Batches", "files-from", "FILE", nullptr,
       "Take the inputs' names from FILE (- is stdin), one a line or each ended by NUL: below INPUT where "
       "that is a folder; of several INPUTs or a pattern the files with these paths"},

      {"Batches", "j,jobs", "N", "0", "Images at a time; 0: as many as threads"},
      {"Batches", "memory", "SIZE", nullptr,
       "Memory for images, such as 500M, 1.5G or 64MiB; default: half of what is available"},
      {"Batches", "skip-existing", nullptr, nullptr,
       "Leave images whose output is there already; a .ndjson report goes on too"},
      {"Batches", "fail-fast", nullptr, nullptr, "End with the first image that fails"},
      {"Batches", "failed-out", "FILE", nullptr,
       "Write the names of the images that failed; the same command with --files-from FILE does them again"},
      {"Batches", "shard", "I/N", nullptr,
       "Only part I (from 1) of N; stderr says which, with -q too. auto: as srun, mpirun or a job array "
       "says; auto/N where the array does not say how many parts there are, or when only some of its tasks "
       "are done again"},
      {"Batches", "balance", "HOW", nullptr,
       "What makes the parts of --shard even: hash (default; a file's part depends on its name alone), "
       "count (files), bytes (the largest first, each to the part that has least). count and bytes need "
       "the same files and sizes in all processes, until all have ended; do their failures (--failed-out) "
       "again without --shard",
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
  input.exclude_is_of_preset = parser.given().is_of_preset("exclude");
  return input;
}

void set_paths(InputOptions& input, std::vector<std::string> paths, const char* what) {
  if (std::ranges::find(paths, "") != paths.end()) usage(std::string("an empty name among ") + what);
  if (paths.empty()) return;
  input.path = std::move(paths.front());
  paths.erase(paths.begin());
  input.more_paths = std::move(paths);
}

ExecutionOptions read_execution(const Parser& parser) {
  ExecutionOptions execution;
  execution.jobs = parser.integer("jobs", 0, kMostThreads);
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
    if (!shard) usage("--balance is for the parts of --shard");
    shard->balance = parse_choice("balance", parser.text("balance"), kBalances);
  }
  return shard;
}

}  // namespace imgpipe
