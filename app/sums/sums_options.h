// imgpipe report: its options, and its row among the commands.
#pragma once

#include <string>
#include <vector>

#include "app/files/replaceable.h"
#include "app/options/command_row.h"

namespace imgpipe {

struct SumsOptions {
  std::vector<std::string> files;  // .ndjson reports, in the order in which they count; "-": stdin
  std::string json_file;           // "-": stdout; empty: none
  Replace replace = Replace::own;
  LoggingOptions logging;
};

class Parser;
[[nodiscard]] SumsOptions read_sums(const Parser& parser);
// Throws Error or returns an exit code.
[[nodiscard]] int run_sums(const SumsOptions& options);
[[nodiscard]] CommandRow report_command();

}  // namespace imgpipe
