// The types of samples. Every question about them is a switch without a default: a new type does not compile
// until each is answered.
#pragma once

#include <cstdint>
#include <type_traits>

#include "images/unreachable.h"

namespace imgpipe {

// Of f32 black is 0 and white 1; samples beyond both stay as they are. No file holds it.
enum class Sample : std::uint8_t { u8, u16, f32 };

// Their elements; those of 16 bits are in the host's byte order.
using Sample8 = std::uint8_t;
using Sample16 = std::uint16_t;

[[nodiscard]] constexpr std::int64_t bytes_per_sample(Sample sample) {
  switch (sample) {
    case Sample::u8:
      return sizeof(Sample8);
    case Sample::u16:
      return sizeof(Sample16);
    case Sample::f32:
      return sizeof(float);
  }
  unreachable();
}

// White of integers; black is 0.
[[nodiscard]] constexpr int max_sample(Sample sample) {
  switch (sample) {
    case Sample::u8:
      return 255;
    case Sample::u16:
      return 65535;
    case Sample::f32:
      break;
  }
  unreachable();
}
inline constexpr int kMaxSample = max_sample(Sample::u8);

// The number of values: the counters of a histogram's row.
[[nodiscard]] constexpr int bins(Sample sample) {
  return max_sample(sample) + 1;
}

// Whether integers are processed by the method for 16 bits rather than by that for 8.
[[nodiscard]] constexpr bool is_wide(Sample sample) {
  switch (sample) {
    case Sample::u8:
      return false;
    case Sample::u16:
      return true;
    case Sample::f32:
      break;
  }
  unreachable();
}

// Not inlined, so that the loops of each type are a function of their own: GCC 12 makes worse ones of both in
// one function (the reference of clahe took 6 % more instructions).
template <class T, class Function>
[[gnu::noinline]] constexpr decltype(auto) call_with(Function& function) {
  return function(T{});
}

// What codecs and fused stages on devices are made for.
[[nodiscard]] constexpr bool is_byte(Sample sample) {
  switch (sample) {
    case Sample::u8:
      return true;
    case Sample::u16:
    case Sample::f32:
      return false;
  }
  unreachable();
}

[[nodiscard]] constexpr bool is_float(Sample sample) {
  switch (sample) {
    case Sample::u8:
    case Sample::u16:
      return false;
    case Sample::f32:
      return true;
  }
  unreachable();
}

// Calls `function` with an integer element, for its type: visit_sample(sample, [&]<class T>(T) { ... }).
template <class Function>
constexpr decltype(auto) visit_sample(Sample sample, Function&& function) {
  switch (sample) {
    case Sample::u8:
      return call_with<Sample8>(function);
    case Sample::u16:
      return call_with<Sample16>(function);
    case Sample::f32:
      break;
  }
  unreachable();
}

// The same with an element of any type.
template <class Function>
constexpr decltype(auto) visit_any_sample(Sample sample, Function&& function) {
  switch (sample) {
    case Sample::u8:
      return call_with<Sample8>(function);
    case Sample::u16:
      return call_with<Sample16>(function);
    case Sample::f32:
      return call_with<float>(function);
  }
  unreachable();
}

template <class T>
struct SampleTypeOf;
template <>
struct SampleTypeOf<Sample8> : std::integral_constant<Sample, Sample::u8> {};
template <>
struct SampleTypeOf<Sample16> : std::integral_constant<Sample, Sample::u16> {};
template <>
struct SampleTypeOf<float> : std::integral_constant<Sample, Sample::f32> {};

template <class T>
concept SampleElement = requires {
  SampleTypeOf<std::remove_const_t<T>>::value;
};
template <SampleElement T>
inline constexpr Sample sample_type_of = SampleTypeOf<std::remove_const_t<T>>::value;
template <SampleElement T>
inline constexpr int kLargest = max_sample(sample_type_of<T>);
template <SampleElement T>
inline constexpr bool kIsWide = is_wide(sample_type_of<T>);
template <SampleElement T>
inline constexpr bool kIsFloat = is_float(sample_type_of<T>);

}  // namespace imgpipe
