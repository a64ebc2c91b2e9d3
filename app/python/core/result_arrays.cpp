#include "app/python/core/result_arrays.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pthread.h>

#include "app/python/core/arrays.h"
#include "images/memory/kept_memory.h"

namespace imgpipe::python {
namespace {

constexpr Sample kNumpySamples[] = {Sample::u8, Sample::u16, Sample::f32, Sample::f16};

std::string text_of(const ArrayType& type) {
  std::string text;
  for (const std::int64_t side : type.axes()) text += (text.empty() ? "" : ", ") + std::to_string(side);
  return "(" + text + ") of " + std::string(sample_name(type.sample));
}

// Never destroyed: arrays may outlive the module.
class HostResultMemory final : public std::pmr::memory_resource {
 public:
  HostResultMemory() {
    const int failed =
        ::pthread_atfork([] { results().kept_.before_fork(); }, [] { results().kept_.after_fork(); },
                         [] { results().kept_.after_fork(); });
    if (failed != 0) throw std::bad_alloc();
  }
  static HostResultMemory& results() {
    static auto* const memory = new HostResultMemory;
    return *memory;
  }
  void trim() { kept_.trim(); }

 private:
  // glibc's malloc keeps smaller blocks itself (DEFAULT_MMAP_THRESHOLD_MAX).
  static constexpr std::size_t kLargeBytes = std::size_t{32} << 20;
  static constexpr std::int64_t kMostKeptBytes = std::int64_t{256} << 20;

  std::pmr::memory_resource* resource(std::size_t bytes) {
    return bytes < kLargeBytes ? std::pmr::new_delete_resource() : &kept_;
  }
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    return resource(bytes)->allocate(bytes, alignment);
  }
  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
    resource(bytes)->deallocate(block, bytes, alignment);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }

  KeptMemory kept_{kMostKeptBytes};
};

}  // namespace

std::pmr::memory_resource* result_memory() {
  return &HostResultMemory::results();
}

void trim_result_memory() {
  HostResultMemory::results().trim();
}

nb::object new_array(std::byte* data, const ArrayType& type, std::shared_ptr<const void> owner,
                     std::optional<std::size_t> items) {
  std::array<std::size_t, 4> sides{};
  std::size_t axes = 0;
  if (items) sides[axes++] = *items;
  for (const std::int64_t side : type.axes()) sides[axes++] = static_cast<std::size_t>(side);
  return nb::cast(nb::ndarray<nb::numpy>(data, axes, sides.data(), capsule_of(std::move(owner)), nullptr,
                                         dtype_of(type.sample)),
                  nb::rv_policy::reference);
}

OutArray::OutArray(nb::handle object, bool of_items)
    : object_(nb::borrow(object)), first_axis_(of_items ? 1 : 0) {
  const auto* sample = std::end(kNumpySamples);
  if (nb::try_cast(object, array_)) {
    sample = std::ranges::find_if(kNumpySamples, [&](Sample one) { return array_.dtype() == dtype_of(one); });
  }
  if (sample == std::end(kNumpySamples))
    throw nb::type_error(("out: expected a writable array of uint8, uint16, float32 or float16 in the memory "
                          "of the CPU, got " +
                          std::string(nb::type_name(object.type()).c_str()))
                             .c_str());
  type_.sample = *sample;
  const std::size_t axes = array_.ndim() - std::min(first_axis_, array_.ndim());
  if (axes != 2 && axes != 3)
    throw nb::value_error(("out: expected " + std::to_string(2 + first_axis_) + " or " +
                           std::to_string(3 + first_axis_) + " dimensions, got " +
                           std::to_string(array_.ndim()))
                              .c_str());
  if (of_items) items_ = array_.shape(0);
  type_.has_channels = axes == 3;
  type_.sides = {0, 0, 1};
  for (std::size_t i = 0; i < axes; ++i)
    type_.sides[i] = static_cast<std::int64_t>(array_.shape(first_axis_ + i));
}

void OutArray::check(const ArrayType& result) const {
  if (type_.sample == result.sample && std::ranges::equal(type_.axes(), result.axes())) return;
  throw nb::value_error(("out: expected " + text_of(result) + ", got " + text_of(type_)).c_str());
}

std::optional<BatchTarget> OutArray::target(bool channels_first) const {
  const auto bytes = static_cast<std::int64_t>(bytes_per_sample(type_.sample));
  const auto& sides = type_.sides;
  const auto stride = [&](std::size_t axis) { return array_.stride(first_axis_ + axis); };
  BatchTarget target{.type = type_};
  std::int64_t row_stride = 0;
  if (type_.has_channels && channels_first) {
    target.type.frame = {sides[2], sides[0] * sides[1], 1, type_.sample};
    row_stride = stride(1);
    if (sides[2] > 1 && stride(2) != 1) return std::nullopt;
    if (sides[1] == 1) row_stride = stride(0);
    if (sides[0] > 1 && stride(0) != sides[1] * row_stride) return std::nullopt;
  } else {
    const std::int64_t channels = type_.has_channels ? sides[2] : 1;
    if (channels > 4) throw nb::value_error("out: expected 1 to 4 channels in the last dimension");
    target.type.frame = {sides[1], sides[0], static_cast<int>(channels), type_.sample};
    row_stride = stride(0);
    if (channels > 1 && stride(2) != 1) return std::nullopt;
    if (sides[1] > 1 && stride(1) != channels) return std::nullopt;
  }
  const Shape& frame = target.type.frame;
  if (frame.height == 1) row_stride = frame.row_bytes() / bytes;
  target.first = {static_cast<std::byte*>(array_.data()), frame, row_stride * bytes};
  target.stride_bytes = first_axis_ == 0 ? 0 : array_.stride(0) * bytes;
  if (row_stride * bytes < frame.row_bytes() ||
      reinterpret_cast<std::uintptr_t>(array_.data()) % static_cast<std::uintptr_t>(bytes) != 0)
    return std::nullopt;
  return target;
}

nb::object OutArray::like() const {
  return nb::module_::import_("numpy").attr("empty")(as_numpy().attr("shape"), as_numpy().attr("dtype"));
}

void OutArray::copy(nb::handle array) const {
  nb::module_::import_("numpy").attr("copyto")(as_numpy(), array);
}

nb::object OutArray::as_numpy() const {
  return nb::cast(nb::ndarray<nb::numpy>(array_), nb::rv_policy::reference);
}

}  // namespace imgpipe::python
