// The options of imgpipe info.
#pragma once

#include <string>
#include <vector>

#include "app/options/option_table.h"
#include "app/process_options/process_options.h"

namespace imgpipe {

struct InfoOptions {
  ProcessOptions process;  // without OUTPUT: inputs, patterns, decoding, talk, what is replaced
  bool reads_stdin = false;
  std::string json_file;  // "-": stdout; empty: none
};

// Its rows.
[[nodiscard]] std::vector<OptionRow> info_rows();

}  // namespace imgpipe
