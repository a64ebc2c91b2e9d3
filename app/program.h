// The parts of main() that imgpipe and imgpipe-bench share: process set-up, logging, errors as exit codes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/log_subject.h"
#include "app/options/logging_options.h"
#include "images/error.h"

namespace imgpipe {

// Sets up the process state that the library does not change: malloc, standard streams, signal handlers and
// CUDA's environment. Must be the first call in main.
void set_up_process();

// Finds the logging options on an unparsed command line, so that errors in the command line are reported in
// the requested format.
[[nodiscard]] LoggingOptions find_logging(const std::vector<std::string>& arguments);

// Selects the instruction set named by the environment variable IMGPIPE_SIMD, if set. Throws Error(usage).
void use_simd_from_environment();

// Returns work()'s result. Never throws: an error becomes a line on stderr about `subject` and an exit code.
[[nodiscard]] int run_guarded(const std::function<int()>& work,
                              const std::function<LogSubject(const Error&)>& subject = {});

}  // namespace imgpipe
