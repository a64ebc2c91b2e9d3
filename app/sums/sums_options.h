// The options of imgpipe report.
#pragma once

#include <string>
#include <vector>

#include "app/options/option_table.h"
#include "app/options/options.h"

namespace imgpipe {

struct SumsOptions {
  std::vector<std::string> files;  // .ndjson reports, in the order in which they count; "-": stdin
  std::string json_file;           // "-": stdout; empty: none
  Replace replace = Replace::own;
  LoggingOptions logging;
};

// Its rows.
[[nodiscard]] std::vector<OptionRow> sums_rows();

}  // namespace imgpipe
