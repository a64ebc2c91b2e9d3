#include "app/python/core/errors.h"

#include <array>
#include <cerrno>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <nanobind/stl/string.h>

#include "images/files/file_descriptor.h"
#include "images/unreachable.h"

namespace imgpipe::python {
namespace {

// Replaces option names in messages by parameter names.
std::string python_message(std::string message) {
  constexpr std::array<std::array<std::string_view, 2>, 16> kNames{{{"--stages", "stages"},
                                                                    {"--threads", "threads"},
                                                                    {"--device", "device"},
                                                                    {"--quality", "quality"},
                                                                    {"--max-pixels", "max_pixels"},
                                                                    {"--lenient", "lenient=True"},
                                                                    {"--bands color", "bands=\"color\""},
                                                                    {"--bands", "bands"},
                                                                    {"--integers ", "integers="},
                                                                    {"--format", "format"},
                                                                    {"--name", "name"},
                                                                    {"--include", "include"},
                                                                    {"--exclude", "exclude"},
                                                                    {"--memory", "memory"},
                                                                    {"--overwrite", "overwrite=True"},
                                                                    {"--recursive", "recursive=True"}}};
  for (const auto& [option, parameter] : kNames) {
    for (std::size_t at = 0; (at = message.find(option, at)) != message.npos;)
      message.replace(at, option.size(), parameter);
  }
  return message;
}

PyObject* type_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
    case ErrorKind::input:
      return PyExc_ValueError;
    case ErrorKind::memory:
      return PyExc_MemoryError;
    case ErrorKind::device:
      return PyExc_RuntimeError;
    case ErrorKind::output:
      return PyExc_OSError;
  }
  unreachable();
}

}  // namespace

nb::object path_object(const std::string& path) {
  return nb::steal(PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size())));
}

nb::object exception_of(const Error& error, const std::string& path, const std::string& note) {
  std::string message = error.what();
  if (error.kind() == ErrorKind::input && !path.empty() && message.starts_with(path + ": "))
    message.erase(0, path.size() + 2);  // first, since a path may contain the name of an option
  message = python_message(std::move(message));
  if (error.kind() == ErrorKind::input) {
    const bool is_missing = !path.empty() && message == "cannot open: " + system_reason(ENOENT);
    return nb::module_::import_("imgpipe._errors")
        .attr(is_missing ? "MissingFileError" : "DecodeError")(message + note,
                                                               path.empty() ? nb::none() : path_object(path));
  }
  return nb::handle(type_of(error.kind()))(message + note);
}

void set_exception(const Error& error, const std::string& path) {
  const nb::object exception = exception_of(error, path);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

void raise(const nb::object& exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

void register_exceptions() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      set_exception(error);
    }
  });
}

}  // namespace imgpipe::python
