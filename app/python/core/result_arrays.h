// Results of pipelines as numpy arrays: new arrays, or the caller's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "pipeline/jobs/array_batch.h"
#include "pipeline/jobs/array_plans.h"

namespace imgpipe::python {

namespace nb = nanobind;

// The memory of new results. It keeps large freed blocks for the next result, because the kernel faults in
// every page of a new one: a batch of 64 JPEGs of 500 x 375 to 64 x 3 x 224 x 224 floats (38.5 MB) takes 83
// ms of CPU time without it and 61 ms with it (2-core Xeon, 2026-11-26).
[[nodiscard]] std::pmr::memory_resource* result_memory();
void trim_result_memory();

// Returns a numpy array of the memory at `data`, which `owner` owns. With `items`: an array of that many
// arrays of the type, one after the other.
[[nodiscard]] nb::object new_array(std::byte* data, const ArrayType& type, std::shared_ptr<const void> owner,
                                   std::optional<std::size_t> items = std::nullopt);

// An array of the caller that receives a result or, with `of_items`, one per element of its first axis.
class OutArray {
 public:
  // Throws nb::type_error unless `object` is a writable array of a type that results have, on the CPU, and
  // nb::value_error unless it has 2 or 3 axes per result.
  OutArray(nb::handle object, bool of_items);

  // The type of each result: its axes and samples, without `frame`.
  [[nodiscard]] const ArrayType& type() const { return type_; }
  // The number of results.
  [[nodiscard]] std::size_t items() const { return items_; }
  // Throws nb::value_error unless the results have this type.
  void check(const ArrayType& result) const;
  // Returns the memory of the results, if each of their rows is contiguous; `channels_first` as in
  // Pipeline's layout.
  [[nodiscard]] std::optional<BatchTarget> target(bool channels_first) const;
  // The array as it was passed.
  [[nodiscard]] nb::object object() const { return object_; }
  // Returns a new numpy array of the same shape and type, in which target() exists.
  [[nodiscard]] nb::object like() const;
  // Copies an array of the same shape.
  void copy(nb::handle array) const;

 private:
  [[nodiscard]] nb::object as_numpy() const;

  nb::object object_;
  nb::ndarray<nb::device::cpu> array_;
  std::size_t items_ = 1, first_axis_ = 0;
  ArrayType type_;
};

}  // namespace imgpipe::python
