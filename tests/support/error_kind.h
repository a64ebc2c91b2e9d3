// The kind of an error that was caught.
#pragma once

#include <exception>

#include "images/error.h"

namespace imgpipe::test {

// Rethrows what is not an Error.
inline ErrorKind kind_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    return known.kind();
  }
}

}  // namespace imgpipe::test
