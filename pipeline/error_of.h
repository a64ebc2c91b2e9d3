// Exceptions as values, where a thread has nobody to throw to.
#pragma once

#include <exception>
#include <new>
#include <optional>

#include "images/error.h"
#include "images/text.h"

namespace imgpipe {

// Error(memory), made at the first call, so that later ones need no memory: copies share their text.
[[nodiscard]] inline const Error& no_memory() {
  static const Error error(ErrorKind::memory, "not enough memory");
  return error;
}

// Runs `work`; whatever it throws comes back as an Error.
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
    return out_of_memory;  // there was none to say what it was
  }
}

}  // namespace imgpipe
