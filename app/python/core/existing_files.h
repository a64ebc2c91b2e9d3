// Checks that an output does not replace a file.
#pragma once

#include <string>

namespace imgpipe::python {

struct FileExists {};

// Throws FileExists if the path names a file that would be replaced.
void check_new(const std::string& path);

// Raises FileExistsError. Needs the GIL.
[[noreturn]] void raise_file_exists(const std::string& path);

}  // namespace imgpipe::python
