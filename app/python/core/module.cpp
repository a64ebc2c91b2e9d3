// The Python module imgpipe._core, which the package's Python sources wrap: they check argument types and
// document the functions.
#include <nanobind/nanobind.h>

#include "app/build_id.h"
#include "app/python/core/bindings.h"
#include "app/python/core/errors.h"

NB_MODULE(_core, module) {
  namespace python = imgpipe::python;
  // Since Python 3.12 the interpreter refuses it; nanobind's types belong to one interpreter.
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
    throw nanobind::import_error("imgpipe cannot be imported in a subinterpreter; use processes");
  nanobind::set_leak_warnings(false);  // daemon threads may have objects when the process ends
  python::register_exceptions();
  module.attr("VERSION") = imgpipe::kPythonVersion;
  python::bind_archives(module);
  python::bind_codecs(module);
  python::bind_devices(module);
  python::bind_directories(module);
  python::bind_pipelines(module);
  python::bind_shard_samples(module);
  python::bind_stages(module);
}
