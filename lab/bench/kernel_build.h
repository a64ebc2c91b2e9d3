// Compiles a user's file of kernels to a library, with nvcc.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace imgpipe {

// Splits a command line into words like a shell: white space separates; '...', "..." and backslashes quote;
// nothing else is special. Throws Error(usage) for an unclosed quote.
[[nodiscard]] std::vector<std::string> split_words(const std::string& option, std::string_view text);

// Returns $NVCC, else $CUDACXX, else nvcc in $PATH, else /usr/local/cuda/bin/nvcc. Throws Error(device).
[[nodiscard]] std::string find_nvcc();

// Returns nvcc's arguments (without its name) for an optimised shared library. `flags` come last; unless they
// name an architecture, compiles for `capability` (90 for 9.0; 0: nvcc's default).
[[nodiscard]] std::vector<std::string> nvcc_arguments(const std::string& source, const std::string& library,
                                                      const std::string& include_directory, int capability,
                                                      const std::vector<std::string>& flags);

// Compiles `source` in a temporary directory, calls `use` with the library's path, and removes the directory.
// nvcc's output goes to stderr. After a signal, ends the process. Throws Error(input) if nvcc fails or its
// shell would interpret a character in a name, Error(device) without nvcc, and Error(output) if the directory
// cannot be created.
void with_compiled(const std::string& source, int capability, const std::vector<std::string>& flags,
                   const std::function<void(const std::string& library)>& use);

}  // namespace imgpipe
