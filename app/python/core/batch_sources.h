// The sources of a batch as Python passes them.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "app/python/core/arrays.h"
#include "app/python/core/pipelines.h"
#include "app/python/core/sources.h"
#include "images/error.h"
#include "pipeline/jobs/array_job.h"

namespace imgpipe::python {

// Keeps the Python objects that the sources read from.
class BatchSources {
 public:
  // Arrays of pixels, or files; a source for which `is_elsewhere` returns true becomes an empty item.
  BatchSources(nb::list objects, const std::optional<Pipeline::Boxes>& boxes,
               const std::optional<Pipeline::Flips>& flips, bool (*is_elsewhere)(nb::handle) = nullptr);

  [[nodiscard]] const std::vector<ArraySource>& items() const { return items_; }
  [[nodiscard]] const std::string& name(std::size_t i) const;
  // Returns the exception for source i, which failed with `error`.
  [[nodiscard]] nb::object exception(std::size_t i, const Error& error, bool with_index) const;

 private:
  [[nodiscard]] ArraySource pixels(nb::handle object);
  [[nodiscard]] ArraySource file(nb::handle object);

  std::deque<ImageArray> arrays_;
  std::map<std::size_t, Source> files_;
  std::map<std::size_t, nb::object> raised_;  // exceptions of sources that could not be read
  std::vector<ArraySource> items_;
};

}  // namespace imgpipe::python
