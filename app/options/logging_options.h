// Options for the log and its format.
#pragma once

#include <vector>

#include "app/options/option_row.h"
#include "app/options/option_values.h"

namespace imgpipe {

class Parser;

enum class LogFormat { text, json };

struct LoggingOptions {
  bool quiet = false;
  bool verbose = false;
  bool no_color = false;
  LogFormat log_format = LogFormat::text;
};

inline constexpr Choices<LogFormat, 2> kLogFormats{{{"text", LogFormat::text}, {"json", LogFormat::json}}};

// --quiet, --verbose, --no-color and --log-format, plus --version and --help, which every command has.
[[nodiscard]] std::vector<OptionRow> logging_rows();
[[nodiscard]] LoggingOptions read_logging(const Parser& parser);

}  // namespace imgpipe
