// imgpipe-bench: from arguments to an exit code.
#pragma once

#include <string>
#include <vector>

namespace imgpipe {

// Runs one command line (without the program's name, with or without --for-version before the others) and
// returns its exit code. Never throws.
[[nodiscard]] int run_bench_program(std::vector<std::string> arguments);

}  // namespace imgpipe
