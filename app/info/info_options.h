// imgpipe info: its options, and its row among the commands.
#pragma once

#include <string>

#include "app/files/replaceable.h"
#include "app/options/batch_options.h"
#include "app/options/command_row.h"
#include "images/codecs/codec.h"

namespace imgpipe {

struct InfoOptions {
  InputOptions input;
  bool reads_stdin = false;
  DecodeOptions decode;
  std::string json_file;  // "-": stdout; empty: none
  Replace replace = Replace::own;
  LoggingOptions logging;
};

class Parser;
[[nodiscard]] InfoOptions read_info(const Parser& parser);
// Throws Error or returns an exit code.
[[nodiscard]] int run_info(const InfoOptions& options);
[[nodiscard]] CommandRow info_command();

}  // namespace imgpipe
