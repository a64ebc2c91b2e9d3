// A source of a pipeline that is opened and planned, but not decoded.
#pragma once

#include <cstdint>
#include <optional>

#include <nanobind/nanobind.h>

#include "app/python/core/arrays.h"
#include "app/python/core/pipelines.h"
#include "app/python/core/sources.h"
#include "images/error.h"
#include "pipeline/jobs/array_job.h"

namespace imgpipe::python {

// Returns whether a source is an array of pixels, not a file: a numpy array that is not 1-D.
[[nodiscard]] bool has_pixels(nb::handle source);

// Its exceptions name the source.
class OpenedImage {
 public:
  enum class Kind { file, pixels };

  // `pipeline` must outlive this.
  OpenedImage(Pipeline& pipeline, nb::handle source, Kind kind);

  // The memory that run() takes, including the result. Raises ValueError after run().
  [[nodiscard]] std::int64_t needed_bytes(int threads) { return job().needed_bytes(threads); }
  // Returns a new array, or `out` unless that is None. Raises ValueError at the second call.
  [[nodiscard]] nb::object run(int threads, nb::handle out, RunReport* report = nullptr);

 private:
  [[nodiscard]] ArrayJob& job();
  [[nodiscard]] nb::object exception_for(const Error& error) const;

  Pipeline& pipeline_;
  std::optional<Source> file_;
  std::optional<ImageArray> pixels_;
  std::optional<ArrayJob> job_;  // reads from them
};

}  // namespace imgpipe::python
