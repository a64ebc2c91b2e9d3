// nvcc makes a library of a user's file of kernels.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace imgpipe {

// Words of a command line as a shell would take them: white space separates, '...', "..." and backslashes
// keep together; nothing else means anything. Throws Error(usage) for a quote that is not closed.
[[nodiscard]] std::vector<std::string> split_words(const std::string& option, std::string_view text);

// The compiler: what $NVCC names, else $CUDACXX, else nvcc in $PATH, else /usr/local/cuda/bin/nvcc. Throws
// Error(device) where it cannot be run.
[[nodiscard]] std::string find_nvcc();

// The arguments of nvcc (without its own name): an optimised shared library for one architecture. `flags`
// come last, and where they name an architecture no other is named. `capability`: of the device, 90 for 9.0;
// 0: nvcc's own choice.
[[nodiscard]] std::vector<std::string> nvcc_arguments(const std::string& source, const std::string& library,
                                                      const std::string& include_folder, int capability,
                                                      const std::vector<std::string>& flags);

// Compiles `source` in a folder of its own below the system's for temporary files, and calls `use` with the
// path of the library; then the folder goes. What nvcc says goes to stderr as it says it. Throws Error(input)
// where nvcc fails, or where a name has a character that nvcc's shell would act upon, Error(device)
// where there is none, Error(output) without room for the folder.
void with_compiled(const std::string& source, int capability, const std::vector<std::string>& flags,
                   const std::function<void(const std::string& library)>& use);

}  // namespace imgpipe
