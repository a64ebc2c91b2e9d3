// The Python exceptions for imgpipe's errors.
#pragma once

#include <string>

#include <nanobind/nanobind.h>

#include "images/error.h"

namespace imgpipe::python {

namespace nb = nanobind;

// Returns a path as os.fsdecode() does, because a path may hold any bytes.
[[nodiscard]] nb::object path_object(const std::string& path);

// Returns a message with the names of Python's parameters instead of the program's options.
[[nodiscard]] std::string python_message(std::string message);

// Returns the exception for `error` of the source or output `path` ("" if it has no name): DecodeError for
// Error(input); ValueError, MemoryError, RuntimeError or OSError for the other kinds. An OSError has an errno
// if the message ends with the system's text for one. Needs the GIL. `note`: the end of the message.
[[nodiscard]] nb::object exception_of(const Error& error, const std::string& path = {},
                                      const std::string& note = {});
// Raises an exception object.
[[noreturn]] void raise(const nb::object& exception);

// Lets functions of the module throw Error.
void register_exceptions();

}  // namespace imgpipe::python
