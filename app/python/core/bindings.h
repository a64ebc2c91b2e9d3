// The parts of the module; each adds its functions and classes.
#pragma once

#include <nanobind/nanobind.h>

namespace imgpipe::python {

namespace nb = nanobind;

void bind_archives(nb::module_& module);
void bind_codecs(nb::module_& module);
void bind_devices(nb::module_& module);
void bind_directories(nb::module_& module);
void bind_pipelines(nb::module_& module);
void bind_shard_samples(nb::module_& module);
void bind_stages(nb::module_& module);

}  // namespace imgpipe::python
