// Names of images, and lists of them: --files-from and --failed-out.
#pragma once

#include <string>
#include <vector>

namespace imgpipe {

// One spelling of a name, by which names are compared: a/b for ./a//b.
[[nodiscard]] std::string plain_name(const std::string& name);

// One name a line, or each ended by NUL where the list holds a NUL. Empty names are left out. /dev/null is an
// empty list. Throws Error(input) when it cannot be read.
[[nodiscard]] std::vector<std::string> read_name_list(const std::string& path);

// The same as text: lines, or ended by NUL where a name holds a newline itself.
[[nodiscard]] std::string name_list_text(const std::vector<std::string>& names);

}  // namespace imgpipe
