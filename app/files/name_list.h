// Names of images, and lists of them: --files-from and --failed-out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace imgpipe {

// Returns the normalised spelling for comparing names: a/b for ./a//b.
[[nodiscard]] std::string plain_name(std::string_view name);

// Reads one name per line, or NUL-terminated names if the list contains a NUL. Drops empty names. /dev/null
// is an empty list. Throws Error(input) if the list cannot be read.
[[nodiscard]] std::vector<std::string> read_name_list(const std::string& path);

// Returns a text that read_name_list() reads as these names: lines, or NUL-terminated names if a name
// contains a newline or a carriage return, or begins with a byte order mark.
[[nodiscard]] std::string name_list_text(const std::vector<std::string>& names);

}  // namespace imgpipe
