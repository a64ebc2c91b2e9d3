#include "app/python/core/errors.h"

#include <array>
#include <cerrno>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <nanobind/stl/string.h>

#include "images/files/file_descriptor.h"
#include "images/text.h"
#include "images/unreachable.h"

namespace imgpipe::python {
namespace {

// Returns the error number for the end of a message: the system's text or the text of images/files; 0: none.
int error_number(std::string_view message) {
  for (const int number :
       {ENOENT, EACCES, EPERM,  EEXIST,       ENOTDIR, EISDIR, ENOTEMPTY, ENOSPC, EDQUOT, EFBIG,  EROFS,
        EIO,    EMFILE, ENFILE, ENAMETOOLONG, ELOOP,   EBUSY,  ETXTBSY,   ENXIO,  ENODEV, ESTALE, EXDEV}) {
    if (message.ends_with(": " + system_reason(number))) return number;
  }
  if (message.ends_with("its directory does not exist")) return ENOENT;
  return message.ends_with("is a directory") ? EISDIR : 0;
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

void set_current(const nb::object& exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

}  // namespace

std::string python_message(std::string message) {
  constexpr std::array<std::array<std::string_view, 2>, 18> kNames{
      {{"process each as a grey image with --bands all, ", ""},
       {"--stages", "stages"},
       {"--threads", "threads"},
       {"--device", "device"},
       {"--quality", "quality"},
       {"--max-pixels", "max_pixels"},
       {"--lenient", "lenient=True"},
       {"--bands color", "bands=\"color\""},
       {"--bands", "bands"},
       {"--integers ", "integers="},
       {"--decode-scale ", "decode_scale="},
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

nb::object path_object(const std::string& path) {
  return nb::steal(PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size())));
}

nb::object exception_of(const Error& error, const std::string& path, const std::string& note) {
  std::string message = error.what();
  const bool has_name = error.kind() == ErrorKind::input || error.kind() == ErrorKind::output;
  if (has_name && !path.empty()) {  // first, since a path may contain the name of an option
    for (const std::string& begin : {path + ": ", printable(path) + ": "}) {
      if (!message.starts_with(begin)) continue;
      message.erase(0, begin.size());
      break;
    }
  }
  message = python_message(std::move(message));
  const nb::object name = path.empty() ? nb::none() : path_object(path);
  if (error.kind() == ErrorKind::input) {
    const bool is_missing = !path.empty() && message == "cannot open: " + system_reason(ENOENT);
    return nb::module_::import_("imgpipe._errors")
        .attr(is_missing ? "MissingFileError" : "DecodeError")(message + note, name);
  }
  if (error.kind() == ErrorKind::output) {
    if (const int number = error_number(message); number != 0)
      return nb::handle(PyExc_OSError)(number, message + note, name);
    if (!path.empty()) message = printable(path) + ": " + message;
  }
  return nb::handle(type_of(error.kind()))(message + note);
}

void raise(const nb::object& exception) {
  set_current(exception);
  throw nb::python_error();
}

void register_exceptions() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      set_current(exception_of(error));
    }
  });
}

}  // namespace imgpipe::python
