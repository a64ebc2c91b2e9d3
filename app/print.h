// Text for people and programs, on stdout or stderr.
#pragma once

#include <string>

namespace imgpipe {

// Writes text to stdout at once. Throws Error(output) when stdout does not take it.
void print_text(const std::string& text);
// Writes the table to stdout, or to stderr where stdout has an image or JSON, unless stderr has JSON too.
// Throws Error(output) for stdout alone: a table that cannot be read does not make what is on stdout any
// worse.
void print_table(const std::string& table, bool stdout_is_taken);

}  // namespace imgpipe
