#pragma once

#include <exception>

#include "images/error.h"

namespace imgpipe::test {

// Returns the kind of a caught Error; rethrows other exceptions.
inline ErrorKind kind_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    return known.kind();
  }
}

}  // namespace imgpipe::test
