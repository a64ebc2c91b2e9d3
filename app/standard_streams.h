// Descriptors 0, 1 and 2 are stdin, stdout and stderr, and nothing else ever; what is written to one of them.
#pragma once

#include <string>

namespace imgpipe {

// Opens those that the caller has closed (`2>&-`), so that no file of ours gets their number and then the
// error lines. They are opened the wrong way round, so that reading from or writing to one fails, with the
// reason that a closed one has (gnulib's stdopen). The first thing that main does.
void open_standard_streams() noexcept;

// A path as messages name it: "-" is stdin or stdout, all else printable.
[[nodiscard]] std::string input_name(const std::string& path);
[[nodiscard]] std::string output_name(const std::string& path);

// True when what is written to `output` ("-" is stdout) and what is printed go to one place.
[[nodiscard]] bool goes_to_stdout(const std::string& output);

// For `output` that is "-" or a descriptor: throws Error(usage) when the image would be sent to a terminal,
// Error(output) for a descriptor that takes nothing. A closed one must be found early, before some file of
// ours has its number.
void check_stream(const std::string& output);

}  // namespace imgpipe
