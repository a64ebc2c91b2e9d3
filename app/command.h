// Runs a command line and returns its exit code.
#pragma once

#include <string>
#include <vector>

#include "app/options/command_row.h"
#include "pipeline/engine_choice.h"

namespace imgpipe {

// Runs one command line (without the program's name) and returns its exit code. Never throws: every error
// becomes one line on stderr.
[[nodiscard]] int run_command(const std::vector<std::string>& arguments,
                              const EngineFactory& factory = make_engine);

// Parses one command line. Throws Error(usage) with a message that says what to change.
[[nodiscard]] ReadyCommand read_command_line(const std::vector<std::string>& arguments);

}  // namespace imgpipe
