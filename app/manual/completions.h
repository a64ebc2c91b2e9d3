// What makes a shell complete imgpipe's commands, options, what options take, and stages, made of their
// tables.
#pragma once

#include <string>

#include "app/options/command_row.h"

namespace imgpipe {

// A function for bash 4.3 or newer; it needs nothing but bash. Sourced, or in
// share/bash-completion/completions.
[[nodiscard]] std::string bash_completion(Commands commands);
// A function for zsh, as the file _imgpipe in a folder of its fpath.
[[nodiscard]] std::string zsh_completion(Commands commands);
// For fish, in share/fish/vendor_completions.d.
[[nodiscard]] std::string fish_completion(Commands commands);

}  // namespace imgpipe
