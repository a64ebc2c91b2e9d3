// What imgpipe and imgpipe-bench have in common around their work: the process, the log, errors as exit
// codes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/log_subject.h"
#include "app/options/logging_options.h"
#include "images/error.h"

namespace imgpipe {

// The first call in main: sets up malloc, standard streams, signal handlers and CUDA's environment. The
// library changes no state of its process.
void set_up_process();

// The log's options as they stand on a command line that has not been parsed, so that errors in the command
// line are reported in the format it asks for.
[[nodiscard]] LoggingOptions find_logging(const std::vector<std::string>& arguments);

// Uses the instruction set that the environment names (IMGPIPE_SIMD), if any. Throws Error(usage).
void use_simd_of_environment();

// Returns what `work` returns. Never throws: every error becomes one line on stderr, about `subject` where
// that is given, and an exit code.
[[nodiscard]] int run_guarded(const std::function<int()>& work,
                              const std::function<LogSubject(const Error&)>& subject = {});

}  // namespace imgpipe
