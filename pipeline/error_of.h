// Exceptions as values, where a thread has nobody to throw to.
#pragma once

#include <exception>
#include <new>
#include <optional>

#include "images/error.h"
#include "images/text.h"

namespace imgpipe {

// Runs `work`; whatever it throws comes back as an Error.
template <class Work>
[[nodiscard]] std::optional<Error> error_of(const Work& work) {
  try {
    work();
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(ErrorKind::memory, "not enough memory");
  } catch (const std::exception& error) {
    return Error(ErrorKind::device, "internal error: " + printable(error.what()));
  }
}

}  // namespace imgpipe
