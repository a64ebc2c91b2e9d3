// What images are processed on, how many at a time, and which part of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/options/option_row.h"
#include "app/shard/shard.h"

namespace imgpipe {

class Parser;

struct ExecutionOptions {
  std::string device = "cpu";
  int threads = 0;                // 0: as many as there are
  int jobs = 0;                   // images at a time; 0: as many as threads
  std::int64_t memory_bytes = 0;  // 0: half of what is available
  bool fail_fast = false;
};

// What begins a --device.
[[nodiscard]] std::vector<std::string> device_values();

// The options of a batch that say how it runs: --jobs, --memory, --skip-existing, --fail-fast, --failed-out,
// --shard, --balance, --dry-run.
[[nodiscard]] std::vector<OptionRow> execution_rows();
// --jobs, --memory, --fail-fast.
[[nodiscard]] ExecutionOptions read_execution(const Parser& parser);
// --shard, --balance.
[[nodiscard]] std::optional<Shard> read_shard(const Parser& parser);

}  // namespace imgpipe
