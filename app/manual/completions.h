// Shell completion scripts for commands, options, their values and stages, generated from the tables.
#pragma once

#include <string>

#include "app/options/command_row.h"

namespace imgpipe {

// Returns a script for bash 4.3 or newer, to source or to install in share/bash-completion/completions.
[[nodiscard]] std::string bash_completion(Commands commands);
// Returns a script for zsh, to install as _imgpipe in a directory of $fpath.
[[nodiscard]] std::string zsh_completion(Commands commands);
// Returns a script for fish, to install in share/fish/vendor_completions.d.
[[nodiscard]] std::string fish_completion(Commands commands);

}  // namespace imgpipe
