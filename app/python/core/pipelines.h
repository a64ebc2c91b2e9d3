// imgpipe._core.Pipeline: stages that are checked once and run on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "app/python/core/loaded_stages.h"
#include "app/python/core/sources.h"
#include "images/codecs/codec.h"
#include "images/error.h"
#include "pipeline/jobs/array_plans.h"

namespace imgpipe::python {

class OpenedImage;

// Thread-safe: concurrent calls use different threads.
class Pipeline {
 public:
  // Throws like Runner() and acceptance_of(), and nb::type_error for stages that make bfloat16.
  Pipeline(const LoadedStages& stages, std::string device, int threads,
           const std::optional<std::string>& layout, const std::string& accept, std::int64_t max_pixels);

  [[nodiscard]] int threads() const { return threads_; }

  [[nodiscard]] nb::object run_array(nb::handle array, nb::handle out);
  // Returns the result and its report.
  [[nodiscard]] nb::tuple run_with_report(nb::handle array);
  [[nodiscard]] nb::object read(nb::handle source, nb::handle out);
  // Opens an array of pixels, or a file. This must outlive the result.
  [[nodiscard]] std::unique_ptr<OpenedImage> open(nb::handle source);

  using Boxes = nb::ndarray<const std::int64_t, nb::numpy, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>;
  using Flips = nb::ndarray<const bool, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  // Returns the array of all results, or a list of arrays where shapes differ (None where an image failed),
  // and the exceptions by source, or None if all succeeded.
  [[nodiscard]] nb::tuple batch(nb::list sources, const std::optional<Boxes>& boxes,
                                const std::optional<Flips>& flips, nb::handle out, bool stop_at_error);

  // Writes the program's file. Returns its remarks: (whether it is about damage, text).
  [[nodiscard]] nb::list convert(nb::handle source, const nb::bytes& path, bool overwrite,
                                 std::optional<int> quality, bool keep_metadata);

 private:
  friend class OpenedImage;

  const std::string device_;
  const int threads_;
  DecodeOptions decode_;
  ArrayPlans plans_;
};

// Returns the meaning of Pipeline's `layout`, which Python has checked.
[[nodiscard]] std::optional<TensorLayout> layout_of(const std::optional<std::string>& name);

// Shows warnings about accepted damage as DamageWarning. Needs the GIL.
void warn_of_damage(const std::string& name, const std::vector<std::string>& warnings);

// Returns exception_of(), with the name in every message, and with the index of a batch's source. Without a
// `source`, an array failed: ValueError replaces DecodeError.
[[nodiscard]] nb::object exception_of_source(const Error& error, const Source* source,
                                             std::optional<std::size_t> index = std::nullopt);

}  // namespace imgpipe::python
