#include "app/python/core/arrays.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "images/memory/available_memory.h"
#include "images/unreachable.h"

namespace imgpipe::python {
namespace {

using Array = nb::ndarray<nb::ro, nb::device::cpu>;

std::string text_of(nb::handle object, const char* attribute) {
  return nb::steal<nb::str>(PyObject_Str(nb::getattr(object, attribute).ptr())).c_str();
}

nb::builtin_exception wrong_type(nb::handle object, const std::string& argument) {
  const nb::object dtype = nb::getattr(object, "dtype");
  const bool is_swapped = !nb::cast<bool>(nb::getattr(dtype, "isnative", nb::bool_(true)));
  return nb::type_error(
      (argument + ": expected numpy.uint8, numpy.uint16 or numpy.float32, got " + text_of(object, "dtype") +
       (is_swapped ? "; convert it with " + argument + ".astype(" + argument + ".dtype.newbyteorder(\"=\"))"
                   : std::string()))
          .c_str());
}

Array array_from(nb::handle object, const std::string& argument = "array") {
  Array array;
  if (!nb::try_cast(object, array) || array.dtype().lanes != 1) throw wrong_type(object, argument);
  return array;
}

Sample sample_of(const Array& array, nb::handle object, const std::string& argument) {
  const nb::dlpack::dtype type = array.dtype();
  for (const Sample sample : {Sample::u8, Sample::u16, Sample::f32}) {
    if (type == dtype_of(sample)) return sample;
  }
  throw wrong_type(object, argument);
}

Shape shape_of(const Array& array, nb::handle object, const std::string& argument) {
  const Sample sample = sample_of(array, object, argument);
  if (array.ndim() != 2 && array.ndim() != 3)
    throw nb::value_error((argument + ": expected HxW or HxWxC, got " + std::to_string(array.ndim()) +
                           (array.ndim() == 1 ? " dimension" : " dimensions"))
                              .c_str());
  if (array.ndim() == 3 && array.shape(2) > 4)
    throw nb::value_error(
        (argument + ": expected 1 to 4 channels, got " + std::to_string(array.shape(2)) + " (shape " +
         text_of(object, "shape") + ")" +
         (array.shape(0) <= 4 ? "; if channels come first use " + argument + ".transpose(1, 2, 0)" : ""))
            .c_str());
  const int channels = array.ndim() == 2 ? 1 : static_cast<int>(array.shape(2));
  return {static_cast<std::int64_t>(array.shape(1)), static_cast<std::int64_t>(array.shape(0)), channels,
          sample};
}

}  // namespace

ImageArray::ImageArray(nb::handle array, const std::string& argument)
    : array_(array_from(array, argument)), shape_(shape_of(array_, array, argument)) {}

ConstHostView ImageArray::view() {
  if (!is_readable_in_place()) {
    check_available(shape_.bytes());
    array_ = array_from(nb::cast(array_, nb::rv_policy::reference).attr("copy")("C"));
  }
  const std::int64_t size = bytes_per_sample(shape_.sample);
  const std::int64_t stride = shape_.height == 1 ? shape_.row_bytes() : array_.stride(0) * size;
  return {static_cast<const std::byte*>(array_.data()), shape_, stride};
}

bool ImageArray::is_readable_in_place() const {
  const std::int64_t size = bytes_per_sample(shape_.sample);
  const bool channels_follow = array_.ndim() == 2 || shape_.channels == 1 || array_.stride(2) == 1;
  const bool pixels_follow = shape_.width == 1 || array_.stride(1) == shape_.channels;
  const bool rows_follow = shape_.height == 1 || array_.stride(0) * size >= shape_.row_bytes();
  return channels_follow && pixels_follow && rows_follow &&
         reinterpret_cast<std::uintptr_t>(array_.data()) % static_cast<std::uintptr_t>(size) == 0;
}

std::string_view sample_name(Sample sample) {
  switch (sample) {
    case Sample::u8:
      return "uint8";
    case Sample::u16:
      return "uint16";
    case Sample::f32:
      return "float32";
    case Sample::f16:
      return "float16";
    case Sample::bf16:
      return "bfloat16";
  }
  unreachable();
}

nb::dlpack::dtype dtype_of(Sample sample) {
  switch (sample) {
    case Sample::u8:
      return nb::dtype<std::uint8_t>();
    case Sample::u16:
      return nb::dtype<std::uint16_t>();
    case Sample::f32:
      return nb::dtype<float>();
    case Sample::f16:
      return {static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float), 16, 1};
    case Sample::bf16:
      throw nb::type_error("stages: numpy has no bfloat16; use dtype=float16 or dtype=float32");
  }
  unreachable();
}

nb::capsule capsule_of(std::shared_ptr<const void> owner) {
  auto held = std::make_unique<std::shared_ptr<const void>>(std::move(owner));
  nb::capsule capsule(
      held.get(), [](void* pointer) noexcept { delete static_cast<std::shared_ptr<const void>*>(pointer); });
  (void)held.release();
  return capsule;
}

nb::object array_of(std::shared_ptr<Image> image) {
  const HostView pixels = image->untyped_view();
  const std::array sides{static_cast<std::size_t>(pixels.height), static_cast<std::size_t>(pixels.width),
                         static_cast<std::size_t>(pixels.channels)};
  const std::array<std::int64_t, 3> strides{pixels.stride_bytes / bytes_per_sample(pixels.sample),
                                            pixels.channels, 1};
  const std::size_t axes = pixels.channels == 1 ? 2 : 3;
  return nb::cast(nb::ndarray<nb::numpy>(pixels.data, axes, sides.data(), capsule_of(std::move(image)),
                                         strides.data(), dtype_of(pixels.sample)),
                  nb::rv_policy::reference);
}

}  // namespace imgpipe::python
