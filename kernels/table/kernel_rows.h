// Kernels as rows of a stage: one for each backend and pair of sample types.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>

#include "kernels/stage.h"

namespace imgpipe {

#ifdef IMGPIPE_WITH_CUDA
#define IMGPIPE_ON_CUDA(function) function
#else
#define IMGPIPE_ON_CUDA(function) nullptr
#endif
#define IMGPIPE_KERNELS(types, name) \
  kKernels<types, name##_reference, name##_cpu, IMGPIPE_ON_CUDA(name##_cuda)>
// The same with a separate CUDA function for samples of 16 bits.
#define IMGPIPE_KERNELS_16(types, name) \
  kKernels<types, name##_reference, name##_cpu, IMGPIPE_ON_CUDA(name##_cuda), IMGPIPE_ON_CUDA(name##16_cuda)>

struct SamplePair {
  Sample in, out;
};
inline constexpr std::array kSame{SamplePair{Sample::u8, Sample::u8}, SamplePair{Sample::u16, Sample::u16}};
inline constexpr std::array kOther{SamplePair{Sample::u8, Sample::u16}, SamplePair{Sample::u16, Sample::u8}};
inline constexpr std::array kAny{kSame[0], kSame[1], kOther[0], kOther[1]};
inline constexpr std::array kToBytes{kSame[0], kOther[1]};
inline constexpr std::array kFloats{SamplePair{Sample::f32, Sample::f32}};
inline constexpr std::array kSameAndFloats{kSame[0], kSame[1], kFloats[0]};
inline constexpr std::array kFloatAndOther{
    SamplePair{Sample::u8, Sample::f32}, SamplePair{Sample::u16, Sample::f32},
    SamplePair{Sample::f32, Sample::u8}, SamplePair{Sample::f32, Sample::u16}};
inline constexpr std::array kToTensors{
    SamplePair{Sample::u8, Sample::f32},  SamplePair{Sample::u8, Sample::f16},
    SamplePair{Sample::u8, Sample::bf16}, SamplePair{Sample::u16, Sample::f32},
    SamplePair{Sample::u16, Sample::f16}, SamplePair{Sample::u16, Sample::bf16}};

// Runs a kernel for groups on one image.
template <auto Group>
CudaStatus run_alone(const StageCall<Device>& call, const CudaLaunch& launch) {
  const std::array calls{&call};
  return Group(calls, launch);
}
// Returns the row of a kernel for one image or for groups.
template <auto Cuda>
constexpr Kernel cuda_row(Sample in, Sample out) {
  Kernel row{.backend = Backend::cuda, .in = in, .out = out};
  if constexpr (std::is_same_v<decltype(Cuda), decltype(Kernel::cuda_group)>) {
    row.cuda = run_alone<Cuda>;
    row.cuda_group = Cuda;
  } else {
    row.cuda = Cuda;
  }
  return row;
}

// A row for each backend and pair of types. A build without CUDA has rows with nullptr, so that plans do not
// depend on the build.
template <const auto& All, auto Reference, auto Cpu, auto Cuda, auto Cuda16 = Cuda>
constexpr std::array kKernels = [] {
  std::array<Kernel, 3 * All.size()> rows;
  Kernel* row = rows.data();
  for (const auto [in, out] : All) {
    *row++ = {.backend = Backend::reference, .in = in, .out = out, .reference = Reference};
    *row++ = {.backend = Backend::cpu, .in = in, .out = out, .cpu = Cpu};
    const bool bytes = is_byte(in) && is_byte(out);
    *row++ = bytes ? cuda_row<Cuda>(in, out) : cuda_row<Cuda16>(in, out);
  }
  return rows;
}();

// Joins two lists of rows.
template <const auto& Some, const auto& More>
constexpr std::array kBoth = [] {
  std::array<Kernel, Some.size() + More.size()> rows;
  std::ranges::copy(More, std::ranges::copy(Some, rows.begin()).out);
  return rows;
}();
// Kernels of floats are NAME_f32_reference, NAME_f32_cpu and NAME_f32_cuda. Stages that move whole pixels
// have the same kernels for all types.
#define IMGPIPE_KERNELS_F32(name) IMGPIPE_KERNELS(kFloats, name##_f32)
#define IMGPIPE_KERNELS_MOVES(name) kBoth<IMGPIPE_KERNELS(kSame, name), IMGPIPE_KERNELS(kFloats, name)>

// Runs the first function for a step with a second image, the other for one with a number.
template <auto WithImage, auto WithNumber, class Where, class... More>
auto by_operand(const StageCall<Where>& call, const More&... more) {
  return call.parameters.image != nullptr ? WithImage(call, more...) : WithNumber(call, more...);
}

// The row of a fused stage, whose only kernel is for 8-bit samples on CUDA devices.
template <auto Cuda>
constexpr std::array kOfBytes{Kernel{.backend = Backend::cuda, .cuda = Cuda}};

// The kernels of an operator that makes a table: on the host and, if given, on CUDA devices. On devices,
// 8-bit stages need no table, because each block derives its values from the counts.
template <const auto& All, auto Cpu, auto... Cuda16>
constexpr std::array kTableKernels = [] {
  std::array<Kernel, All.size() + sizeof...(Cuda16) * (All.size() - 1)> rows;
  Kernel* row = rows.data();
  for (const auto [in, out] : All) {
    *row++ = {.backend = Backend::cpu, .in = in, .out = out, .cpu = Cpu};
    if (!is_byte(in) || !is_byte(out))
      ((*row++ = {.backend = Backend::cuda, .in = in, .out = out, .cuda = Cuda16}), ...);
  }
  return rows;
}();

}  // namespace imgpipe
