// The parts of the module; each adds its functions and classes.
#pragma once

#include <nanobind/nanobind.h>

namespace imgpipe::python {

namespace nb = nanobind;

void bind_devices(nb::module_& module);
void bind_pipelines(nb::module_& module);
void bind_stages(nb::module_& module);

}  // namespace imgpipe::python
