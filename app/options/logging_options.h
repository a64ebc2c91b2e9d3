// What a command says of its run, and how: --quiet, --verbose, --no-color, --log-format.
#pragma once

#include "app/log.h"

namespace imgpipe {

struct LoggingOptions {
  bool quiet = false;
  bool verbose = false;
  bool no_color = false;
  LogFormat log_format = LogFormat::text;
};

}  // namespace imgpipe
