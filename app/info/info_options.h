// The options of imgpipe info.
#pragma once

#include <string>
#include <vector>

#include "app/options/option_table.h"
#include "app/process_options/process_options.h"

namespace imgpipe {

struct InfoOptions {
  InputOptions input;
  bool reads_stdin = false;
  DecodeOptions decode;
  std::string json_file;  // "-": stdout; empty: none
  Replace replace = Replace::own;
  LoggingOptions logging;
};

// Its rows.
[[nodiscard]] std::vector<OptionRow> info_rows();

}  // namespace imgpipe
