// Text for people and programs, on stdout.
#pragma once

#include <string>

namespace imgpipe {

// Writes text to stdout at once. Throws Error(output) when stdout does not take it.
void print_text(const std::string& text);

}  // namespace imgpipe
