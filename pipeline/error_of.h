// Converts exceptions to values, for threads without a caller to catch them.
#pragma once

#include <exception>
#include <new>
#include <optional>

#include "images/error.h"
#include "images/text.h"

namespace imgpipe {

// Returns an Error(memory) made at the first call. Later calls allocate nothing: copies share its text.
[[nodiscard]] inline const Error& no_memory() {
  static const Error error(ErrorKind::memory, "not enough memory");
  return error;
}

// Runs `work` and returns any exception that it throws as an Error.
template <class Work>
[[nodiscard]] std::optional<Error> error_of(const Work& work) {
  const Error& out_of_memory = no_memory();
  try {
    try {
      work();
      return std::nullopt;
    } catch (const Error& error) {
      return error;
    } catch (const std::bad_alloc&) {
      return out_of_memory;
    } catch (const std::exception& error) {
      return Error(ErrorKind::device, "internal error: " + printable(error.what()));
    }
  } catch (const std::bad_alloc&) {
    return out_of_memory;  // while making the text of the actual error
  }
}

}  // namespace imgpipe
