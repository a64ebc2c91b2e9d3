// imgpipe bench runs another program, imgpipe-bench, which has the lab's kernels and sources.
#pragma once

#include <string>
#include <vector>

#include "app/options/command_row.h"

namespace imgpipe {

// The program's first argument: --for-version=VERSION, of the imgpipe that starts it.
inline constexpr const char* kForVersion = "--for-version=";

// The file to run: next to this program's own, then in its directory of libexec; never one of PATH. Throws
// Error(usage) that names the package where there is none.
[[nodiscard]] std::string find_bench_program();

// Replaces this process by imgpipe-bench, with the arguments after "bench". Throws Error(usage) where it
// cannot be run.
[[noreturn]] void start_bench(const std::vector<std::string>& arguments);

[[nodiscard]] CommandRow bench_command();

}  // namespace imgpipe
