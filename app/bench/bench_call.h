// imgpipe bench: runs another program, imgpipe-bench, which contains the lab's kernels and sources.
#pragma once

#include <string>
#include <vector>

#include "app/options/command_row.h"

namespace imgpipe {

// The first argument of imgpipe-bench: --for-version=VERSION of the imgpipe that starts it.
inline constexpr const char* kForVersion = "--for-version=";

// Returns the file to run: next to this executable, otherwise in libexec; never from PATH. If neither exists,
// throws Error(usage) that names the package to install.
[[nodiscard]] std::string find_bench_program();

// Replaces this process with imgpipe-bench and the arguments after "bench". Throws Error(usage) on failure.
[[noreturn]] void start_bench(const std::vector<std::string>& arguments);

[[nodiscard]] CommandRow bench_command();

}  // namespace imgpipe
