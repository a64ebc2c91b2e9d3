// Writes text at once, to a file or to stdout.
#pragma once

#include <string>
#include <string_view>

#include "images/files/output_sync.h"

namespace imgpipe {

// Writes a whole file with write_file() (images/files/output_file.h). Throws Error(output) with the path or
// "stdout".
void write_text(const std::string& path, std::string_view text, OutputSync* sync = nullptr);
// Writes text to stdout. Throws Error(output) if that fails.
void print_text(std::string_view text);

}  // namespace imgpipe
