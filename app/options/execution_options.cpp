#include "app/options/execution_options.h"

#include <cstdlib>

#include "app/options/option_parser.h"
#include "app/options/sizes.h"
#include "pipeline/threads/host_threads.h"

namespace imgpipe {

std::vector<std::string> device_values() {
  return {"auto", "cuda", "cuda:", "cpu", "reference"};
}

std::vector<OptionRow> execution_rows() {
  return {
      {"Batch", "j,jobs", "N", "0", "Images at a time; 0: as many as threads"},
      {"Batch", "memory", "SIZE", nullptr,
       "Memory for images, such as 500M, 1.5G or 64MiB; default: half of what is available"},
      {"Batch", "skip-existing", nullptr, nullptr,
       "Leave images whose output is there already; a .ndjson report goes on too"},
      {"Batch", "fail-fast", nullptr, nullptr, "End with the first image that fails"},
      {"Batch", "failed-out", "FILE", nullptr,
       "Write the names of the images that failed; the same command with --files-from FILE does them again"},
      {"Batch", "shard", "I/N", nullptr,
       "Only part I (from 1) of N; stderr says which, with -q too. auto: as srun, mpirun or a job array "
       "says; auto/N where the array does not say how many parts there are, or when only some of its tasks "
       "are done again"},
      {"Batch", "balance", "HOW", nullptr,
       "What makes the parts of --shard even: hash (default; a file's part depends on its name alone), "
       "count (files), bytes (the largest first, each to the part that has least). count and bytes need "
       "the same files and sizes in all processes, until all have ended; do their failures (--failed-out) "
       "again without --shard",
       choice_names(kBalances)},
      {"Batch", "n,dry-run", nullptr, nullptr, "Print what would be done"},
  };
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
