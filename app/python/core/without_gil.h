// Calls that run without the GIL.
#pragma once

#include <string>

#include <nanobind/nanobind.h>

#include "app/python/core/errors.h"
#include "images/error.h"

namespace imgpipe::python {

// Runs `work` without the GIL, so that other Python threads run meanwhile.
template <class Work>
auto without_gil(const Work& work) {
  const nb::gil_scoped_release others_run;
  return work();
}

// The same. Raises exception_for(error) for an Error of `work`.
template <class ExceptionFor, class Work>
auto without_gil(const ExceptionFor& exception_for, const Work& work) {
  try {
    return without_gil(work);
  } catch (const Error& error) {
    raise(exception_for(error));
  }
}

// The same. Raises exception_of() for the source or output `name`.
template <class Work>
auto without_gil(const std::string& name, const Work& work) {
  return without_gil([&name](const Error& error) { return exception_of(error, name); }, work);
}

}  // namespace imgpipe::python
