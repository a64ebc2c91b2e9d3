// Sample types. Every property of a type is a switch without a default, so the compiler reports the switches
// that a new type must extend.
#pragma once

#include <cstdint>
#include <type_traits>

#include "images/unreachable.h"

namespace imgpipe {

// In f32 black is 0 and white is 1; samples outside this range are not clamped. Only tensors have samples of
// f16 (IEEE 754 binary16) and bf16 (the upper half of a binary32); no operator reads them.
enum class Sample : std::uint8_t { u8, u16, f32, f16, bf16 };

// The element types; 16-bit samples are in the host's byte order.
using Sample8 = std::uint8_t;
using Sample16 = std::uint16_t;
struct Float16 {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

[[nodiscard]] constexpr std::int64_t bytes_per_sample(Sample sample) {
  switch (sample) {
    case Sample::u8:
      return sizeof(Sample8);
    case Sample::u16:
      return sizeof(Sample16);
    case Sample::f32:
      return sizeof(float);
    case Sample::f16:
    case Sample::bf16:
      return sizeof(std::uint16_t);
  }
  unreachable();
}

// The value of white for integer samples; black is 0.
[[nodiscard]] constexpr int max_sample(Sample sample) {
  switch (sample) {
    case Sample::u8:
      return 255;
    case Sample::u16:
      return 65535;
    case Sample::f32:
    case Sample::f16:
    case Sample::bf16:
      break;
  }
  unreachable();
}
inline constexpr int kMaxSample = max_sample(Sample::u8);

// The number of distinct values: the length of a histogram row.
[[nodiscard]] constexpr int bins(Sample sample) {
  return max_sample(sample) + 1;
}

// Whether the 16-bit method processes these integers, rather than the 8-bit one.
[[nodiscard]] constexpr bool is_wide(Sample sample) {
  switch (sample) {
    case Sample::u8:
      return false;
    case Sample::u16:
      return true;
    case Sample::f32:
    case Sample::f16:
    case Sample::bf16:
      break;
  }
  unreachable();
}

// Not inlined, so that the loops for each type are a separate function. GCC 12 generates worse code for both
// in one function (the reference of clahe took 6 % more instructions).
template <class T, class Function>
[[gnu::noinline]] constexpr decltype(auto) call_with(Function& function) {
  return function(T{});
}

// Returns true for the type that the codecs and fused stages on devices support.
[[nodiscard]] constexpr bool is_byte(Sample sample) {
  switch (sample) {
    case Sample::u8:
      return true;
    case Sample::u16:
    case Sample::f32:
    case Sample::f16:
    case Sample::bf16:
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
    case Sample::f16:
    case Sample::bf16:
      return true;
  }
  unreachable();
}

// Calls `function` with an element of the integer type: visit_sample(sample, [&]<class T>(T) { ... }).
template <class Function>
constexpr decltype(auto) visit_sample(Sample sample, Function&& function) {
  switch (sample) {
    case Sample::u8:
      return call_with<Sample8>(function);
    case Sample::u16:
      return call_with<Sample16>(function);
    case Sample::f32:
    case Sample::f16:
    case Sample::bf16:
      break;
  }
  unreachable();
}

// The same with an element of any type that operators read.
template <class Function>
constexpr decltype(auto) visit_any_sample(Sample sample, Function&& function) {
  switch (sample) {
    case Sample::u8:
      return call_with<Sample8>(function);
    case Sample::u16:
      return call_with<Sample16>(function);
    case Sample::f32:
      return call_with<float>(function);
    case Sample::f16:
    case Sample::bf16:
      break;
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
template <>
struct SampleTypeOf<Float16> : std::integral_constant<Sample, Sample::f16> {};
template <>
struct SampleTypeOf<BFloat16> : std::integral_constant<Sample, Sample::bf16> {};

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
