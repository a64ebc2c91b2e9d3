#pragma once

#include <string>
#include <vector>

namespace imgpipe {

// Runs one command line of imgpipe-bench (without the program's name, with or without a leading
// --for-version) and returns its exit code. Never throws.
[[nodiscard]] int run_bench_program(std::vector<std::string> arguments);

}  // namespace imgpipe
