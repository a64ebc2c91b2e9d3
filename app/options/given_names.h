// Arguments as they were typed, with one name for each option.
#pragma once

#include <string>
#include <vector>

#include "app/options/option_table.h"

namespace imgpipe {

// The same arguments, in which every option of `rows` has its own name: of its letter (-j 4, -j4, -rj4), of
// its other names and of their other spelling (--no-colour) alike, and its value is an argument of its own.
// What stands behind "--" stays. Throws Error(usage) for an option that no row has, with the nearest that one
// has; `command` is whose --help is to be read: "imgpipe bench".
[[nodiscard]] std::vector<std::string> with_own_names(const std::vector<std::string>& arguments,
                                                      const std::vector<OptionRow>& rows,
                                                      const std::string& command);

}  // namespace imgpipe
