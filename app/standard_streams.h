// Keeps descriptors 0, 1 and 2 reserved for stdin, stdout and stderr, and checks outputs that go to them.
#pragma once

#include <string>

namespace imgpipe {

// Opens the standard streams that the caller closed (`2>&-`), so that no file of the program gets their
// number and then receives error lines. Each is opened in the opposite direction, so that using it fails as
// for a closed one (gnulib's stdopen). Must be the first call in main.
void open_standard_streams() noexcept;

// Returns a path as messages show it: "stdin" or "stdout" for "-", otherwise the printable path.
[[nodiscard]] std::string input_name(const std::string& path);
[[nodiscard]] std::string output_name(const std::string& path);

// Returns true if `output` ("-" is stdout) is the same file as stdout.
[[nodiscard]] bool is_stdout(const std::string& output);

// Checks an `output` that is "-" or a descriptor. Throws Error(usage) for a terminal, Error(output) if it
// cannot be written. Call it early: another file may get a closed descriptor's number.
void check_stream(const std::string& output);

}  // namespace imgpipe
