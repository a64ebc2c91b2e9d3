// numpy arrays as images, and images as numpy arrays, without copies.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "images/image.h"
#include "images/plane.h"

namespace imgpipe::python {

namespace nb = nanobind;

// The pixels of a numpy array: H x W or H x W x C, uint8, uint16 or float32. Keeps the array alive.
class ImageArray {
 public:
  // Throws nb::type_error or nb::value_error if the array is not an image. Messages name the argument.
  explicit ImageArray(nb::handle array, const std::string& argument = "array");

  [[nodiscard]] const Shape& shape() const { return shape_; }
  // Returns a view of the pixels, which are copied once if their memory order requires it (transposed,
  // mirrored, unaligned).
  [[nodiscard]] ConstHostView view();
  // Whether view() copies nothing.
  [[nodiscard]] bool is_readable_in_place() const;

 private:
  nb::ndarray<nb::ro, nb::device::cpu> array_;
  Shape shape_;
};

// Returns the name of a sample type, as numpy has it: "uint8", "bfloat16".
[[nodiscard]] std::string_view sample_name(Sample sample);

// The dtype of a sample type. Throws nb::type_error for bfloat16, which numpy does not have.
[[nodiscard]] nb::dlpack::dtype dtype_of(Sample sample);

// Returns the owner of an array's memory, for nb::ndarray.
[[nodiscard]] nb::capsule capsule_of(std::shared_ptr<const void> owner);
// Returns an image's pixels as an array: H x W for one channel, otherwise H x W x C.
[[nodiscard]] nb::object array_of(std::shared_ptr<Image> image);

}  // namespace imgpipe::python
