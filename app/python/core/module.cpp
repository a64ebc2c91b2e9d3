// The Python module imgpipe._core, which the package's Python sources wrap: they check argument types and
// document the functions.
#include <nanobind/nanobind.h>

#include "app/build_id.h"
#include "app/python/core/bindings.h"
#include "app/python/core/errors.h"

NB_MODULE(_core, module) {
  namespace python = imgpipe::python;
  // nanobind's types belong to one interpreter. It has replaced its state, so that the main one's is
  // restored; an isolated subinterpreter (Python 3.12 and later) does not come here.
  static nanobind::detail::nb_internals* of_main_interpreter = nullptr;
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
    nanobind::detail::internals = of_main_interpreter;
    throw nanobind::import_error("imgpipe cannot be imported in a subinterpreter; use processes");
  }
  of_main_interpreter = nanobind::detail::internals;
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
