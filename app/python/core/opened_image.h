// A source of a pipeline that is opened and planned, but not decoded.
#pragma once

#include <cstdint>
#include <optional>

#include <nanobind/nanobind.h>

#include "app/python/core/arrays.h"
#include "app/python/core/pipelines.h"
#include "app/python/core/sources.h"
#include "pipeline/jobs/array_job.h"

namespace imgpipe::python {

// Returns whether a source is an array of pixels, not a file: a numpy array that is not 1-D.
[[nodiscard]] bool has_pixels(nb::handle source);

class OpenedImage {
 public:
  // `source`: an array of pixels, or a file. Raises DecodeError with its name. `pipeline` must outlive this.
  OpenedImage(Pipeline& pipeline, nb::handle source);

  // The memory that run() takes, including the result.
  [[nodiscard]] std::int64_t needed_bytes(int threads) const { return job_->needed_bytes(threads); }
  // Call it once.
  [[nodiscard]] nb::object run(int threads, nb::handle out);

 private:
  Pipeline& pipeline_;
  std::optional<Source> file_;
  std::optional<ImageArray> pixels_;
  std::optional<ArrayJob> job_;  // reads from them
};

}  // namespace imgpipe::python
