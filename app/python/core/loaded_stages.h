// imgpipe._core.Stages: a list of stages whose second images are in memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "pipeline/stage_list.h"

namespace imgpipe::python {

namespace nb = nanobind;

struct LoadedStages {
  // `images`: pairs of a name and an array, or the path as bytes. Other names in `text` are paths. Throws
  // like parse_stages() and ImageArray(), and a Python exception for a file that cannot be read. Shows
  // warnings about accepted damage.
  LoadedStages(const std::string& text, const nb::list& images, const std::string& accept,
               std::int64_t max_pixels);

  std::vector<StageRequest> steps;
};

}  // namespace imgpipe::python
