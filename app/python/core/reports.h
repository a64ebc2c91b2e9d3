// Reports of runs as Python dictionaries.
#pragma once

#include <nanobind/nanobind.h>

#include "pipeline/runner.h"

namespace imgpipe::python {

// Uses the keys of the program's JSON report.
[[nodiscard]] nanobind::dict report_dict(const RunReport& report);

}  // namespace imgpipe::python
