// Arrays in the memory of a CUDA device: the caller's, and results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "app/python/core/arrays.h"
#include "app/python/core/devices.h"
#include "images/plane.h"
#include "images/sample.h"
#include "pipeline/result_memory.h"

namespace imgpipe::python {

namespace nb = nanobind;

// An array of the caller, from DLPack or the CUDA Array Interface. Keeps the array alive.
struct DeviceInput {
  // `array`: a capsule of __dlpack__(), on a CUDA device. Throws nb::type_error, whose message begins with
  // `argument`, for samples that imgpipe does not have.
  DeviceInput(nb::ndarray<nb::ro> array, const std::string& argument);
  // `strides` in bytes; `type` as in the CUDA Array Interface, such as "|u1".
  DeviceInput(nb::object owner, std::uintptr_t data, std::vector<std::int64_t> shape,
              std::vector<std::int64_t> strides, const std::string& type, int device,
              const std::string& argument);

  // The same as the first, for an array that is written to. Throws nb::type_error if it is read-only.
  [[nodiscard]] static DeviceInput writable(const nb::ndarray<>& array, const std::string& argument) {
    return {nb::ndarray<nb::ro>(array), argument};
  }

  // The pixels of an image. Throws nb::type_error or nb::value_error if the array is not H x W or H x W x C
  // with contiguous pixels on this device.
  [[nodiscard]] View<const std::byte, Device> image(int on_device) const;
  [[nodiscard]] std::int64_t bytes() const;
  // Throws nb::value_error unless the elements are in C order.
  void check_contiguous(const std::string& argument) const;

  nb::object owner;
  nb::ndarray<nb::ro> array;
  std::byte* data = nullptr;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  // bytes
  Sample sample = Sample::u8;
  int device = 0;
};

// A result: memory of a device, in C order.
struct DeviceResult {
  std::shared_ptr<ResultBlock> block;
  DeviceSession* session = nullptr;
  std::byte* data = nullptr;
  std::vector<std::int64_t> shape;
  Sample sample = Sample::u8;

  [[nodiscard]] std::int64_t bytes() const;
  // Element i of the first axis, or `count` of them.
  [[nodiscard]] DeviceResult at(std::int64_t i) const;
  [[nodiscard]] DeviceResult slice(std::int64_t first, std::int64_t count) const;
  // The same elements with a new first axis.
  [[nodiscard]] DeviceResult expanded() const;
  // An object with __dlpack__(), which keeps the block alive.
  [[nodiscard]] nb::object array() const;
  [[nodiscard]] std::string dtype() const { return std::string(sample_name(sample)); }
  // The element type in the CUDA Array Interface; None for bfloat16, which it does not have.
  [[nodiscard]] nb::object interface_type() const;
  // Copies to a C-contiguous array of the same size in host memory.
  void download(nb::ndarray<nb::c_contig, nb::device::cpu> to) const;
  // Moves the elements of the first axis with these ascending indices to the front.
  void compact(const std::vector<std::int64_t>& indices) const;
};

}  // namespace imgpipe::python
