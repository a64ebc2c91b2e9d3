#include "app/python/core/device_arrays.h"

#include <array>
#include <optional>
#include <utility>

#include <nanobind/stl/string.h>

#include "app/python/core/arrays.h"
#include "app/python/core/without_gil.h"
#include "images/unreachable.h"

namespace imgpipe::python {
namespace {

constexpr std::array kSamples{Sample::u8, Sample::u16, Sample::f32, Sample::f16, Sample::bf16};

nb::dlpack::dtype device_dtype(Sample sample) {
  switch (sample) {
    case Sample::bf16:
      return {static_cast<std::uint8_t>(nb::dlpack::dtype_code::Bfloat), 16, 1};
    case Sample::u8:
    case Sample::u16:
    case Sample::f32:
    case Sample::f16:
      return dtype_of(sample);
  }
  unreachable();
}

// The element types of the CUDA Array Interface.
std::string type_text(Sample sample) {
  switch (sample) {
    case Sample::u8:
      return "|u1";
    case Sample::u16:
      return "<u2";
    case Sample::f32:
      return "<f4";
    case Sample::f16:
      return "<f2";
    case Sample::bf16:
      return "";
  }
  unreachable();
}

template <class Matches>
Sample sample_that(const Matches& matches, const std::string& argument) {
  for (const Sample sample : kSamples) {
    if (matches(sample)) return sample;
  }
  throw nb::type_error((argument + ": expected uint8, uint16, float32, float16 or bfloat16").c_str());
}

std::int64_t bytes_of(const std::vector<std::int64_t>& shape, Sample sample) {
  std::int64_t all = bytes_per_sample(sample);
  for (const std::int64_t side : shape) all *= side;
  return all;
}

}  // namespace

DeviceInput::DeviceInput(nb::ndarray<nb::ro> of, const std::string& argument)
    : array(std::move(of)),
      data(static_cast<std::byte*>(const_cast<void*>(array.data()))),
      sample(sample_that([&](Sample one) { return array.dtype() == device_dtype(one); }, argument)),
      device(array.device_id()) {
  if (array.device_type() != nb::device::cuda::value)
    throw nb::type_error((argument + ": expected an array on a CUDA device").c_str());
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    shape.push_back(static_cast<std::int64_t>(array.shape(i)));
    strides.push_back(array.stride(i) * bytes_per_sample(sample));
  }
}

DeviceInput::DeviceInput(nb::object of, std::uintptr_t at, std::vector<std::int64_t> sides,
                         std::vector<std::int64_t> byte_strides, const std::string& type, int on_device,
                         const std::string& argument)
    : owner(std::move(of)),
      data(reinterpret_cast<std::byte*>(at)),
      shape(std::move(sides)),
      strides(std::move(byte_strides)),
      sample(sample_that([&](Sample one) { return type == type_text(one); }, argument)),
      device(on_device) {}

View<const std::byte, Device> DeviceInput::image(int on_device) const {
  if (device != on_device)
    throw nb::value_error(("array: is on cuda:" + std::to_string(device) +
                           ", but the pipeline runs on cuda:" + std::to_string(on_device))
                              .c_str());
  switch (sample) {
    case Sample::u8:
    case Sample::u16:
    case Sample::f32:
      break;
    case Sample::f16:
    case Sample::bf16:
      throw nb::type_error("array: expected uint8, uint16 or float32 samples");
  }
  if (shape.size() != 2 && shape.size() != 3)
    throw nb::value_error(
        ("array: expected HxW or HxWxC, got " + std::to_string(shape.size()) + " dimensions").c_str());
  const std::int64_t channels = shape.size() == 2 ? 1 : shape[2];
  if (channels < 1 || channels > 4)
    throw nb::value_error(("array: expected 1 to 4 channels, got " + std::to_string(channels) +
                           (shape[0] <= 4 ? "; if channels come first permute them to the end" : ""))
                              .c_str());
  const Shape image{shape[1], shape[0], static_cast<int>(channels), sample};
  const std::int64_t size = bytes_per_sample(sample);
  const bool follow = (channels == 1 || strides[2] == size) &&
                      (image.width == 1 || strides[1] == size * channels) &&
                      (image.height == 1 || strides[0] >= image.row_bytes());
  if (!follow)
    throw nb::value_error("array: expected contiguous pixels in each row; call contiguous() or copy()");
  return {data, image, image.height == 1 ? image.row_bytes() : strides[0]};
}

void DeviceInput::check_contiguous(const std::string& argument) const {
  std::int64_t wanted = bytes_per_sample(sample);
  for (std::size_t i = shape.size(); i-- > 0; wanted *= shape[i]) {
    if (shape[i] > 1 && strides[i] != wanted)
      throw nb::value_error((argument + ": expected a C-contiguous array").c_str());
  }
}

std::int64_t DeviceInput::bytes() const {
  return bytes_of(shape, sample);
}

std::int64_t DeviceResult::bytes() const {
  return bytes_of(shape, sample);
}

DeviceResult DeviceResult::at(std::int64_t i) const {
  DeviceResult one = slice(i, 1);
  one.shape.erase(one.shape.begin());
  return one;
}

DeviceResult DeviceResult::slice(std::int64_t first, std::int64_t count) const {
  if (shape.empty() || first < 0 || count < 0 || first + count > shape.front())
    throw nb::index_error("index out of range");
  DeviceResult part = *this;
  part.shape.front() = 1;
  part.data += first * part.bytes();
  part.shape.front() = count;
  return part;
}

DeviceResult DeviceResult::expanded() const {
  DeviceResult all = *this;
  all.shape.insert(all.shape.begin(), 1);
  return all;
}

nb::object DeviceResult::array() const {
  check_process();
  const std::vector<std::size_t> sides(shape.begin(), shape.end());
  return nb::cast(nb::ndarray<nb::array_api>(data, sides.size(), sides.data(), capsule_of(block), nullptr,
                                             device_dtype(sample), nb::device::cuda::value, session->index));
}

nb::object DeviceResult::interface_type() const {
  const std::string type = type_text(sample);
  return type.empty() ? nb::none() : nb::cast(type);
}

void DeviceResult::download(nb::ndarray<nb::c_contig, nb::device::cpu> to) const {
  const auto size = static_cast<std::size_t>(bytes());
  if (to.nbytes() != size) throw nb::value_error("numpy: expected an array of the same size");
  check_process();
  if (size == 0) return;
  without_gil([&] { session->results->download(data, {static_cast<std::byte*>(to.data()), size}); });
}

void DeviceResult::compact(const std::vector<std::int64_t>& indices) const {
  std::vector<ResultMemory::Copy> copies;
  std::int64_t row = 0;
  for (const std::int64_t i : indices) {
    const DeviceResult from = at(i), to = at(row++);
    if (from.data != to.data) copies.push_back({from.data, to.data, static_cast<std::size_t>(from.bytes())});
  }
  check_process();
  without_gil([&] { session->results->copy(copies); });
}

}  // namespace imgpipe::python
