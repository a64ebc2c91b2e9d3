// Descriptors 0, 1 and 2 are stdin, stdout and stderr, and nothing else ever.
#pragma once

namespace imgpipe {

// Opens those that the caller has closed (`2>&-`), so that no file of ours gets their number and then the
// error lines. They are opened the wrong way round, so that reading from or writing to one fails, with the
// reason that a closed one has (gnulib's stdopen). The first thing that main does.
void open_standard_streams() noexcept;

}  // namespace imgpipe
