// Highway's detection of the processor's instruction sets, for the program, which then does not load
// libhwy.so: that library measures the resolution of timers when it is loaded, a quarter of the time of a
// small image. This is a separate file so that users of our libraries link Highway's detection.
#include <atomic>
#include <cstdint>

#include <hwy/targets.h>

// Other compilers lack some of the names below, and other processors have other sets.
#if HWY_ARCH_X86 && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11

namespace imgpipe {
namespace {

// The groups of Highway 1.0 (hwy/targets.cc). The compiler's functions also check that the system saves the
// registers.
std::int64_t detected_targets() {
  std::int64_t targets = HWY_SCALAR | HWY_EMU128;
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("sse2")) return targets;
#ifdef HWY_SSE2
  targets |= HWY_SSE2;
#endif
  if (!__builtin_cpu_supports("sse3") || !__builtin_cpu_supports("ssse3")) return targets;
  targets |= HWY_SSSE3;
  if (!__builtin_cpu_supports("sse4.1") || !__builtin_cpu_supports("sse4.2") ||
      !__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("aes"))
    return targets;
  targets |= HWY_SSE4;
  if (!__builtin_cpu_supports("avx") || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("lzcnt") ||
      !__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("fma") ||
      !__builtin_cpu_supports("f16c"))
    return targets;
  targets |= HWY_AVX2;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512vl") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512cd"))
    return targets;
  targets |= HWY_AVX3;
  if (!__builtin_cpu_supports("avx512vnni") || !__builtin_cpu_supports("vpclmulqdq") ||
      !__builtin_cpu_supports("avx512vbmi") || !__builtin_cpu_supports("avx512vbmi2") ||
      !__builtin_cpu_supports("vaes") || !__builtin_cpu_supports("avx512vpopcntdq") ||
      !__builtin_cpu_supports("avx512bitalg") || !__builtin_cpu_supports("gfni"))
    return targets;
  targets |= HWY_AVX3_DL;
  if (!__builtin_cpu_supports("avx512bf16")) return targets;
#ifdef HWY_AVX3_ZEN4
  if (__builtin_cpu_is("amd")) targets |= HWY_AVX3_ZEN4;
#endif
#if defined(HWY_AVX3_SPR) && __GNUC__ >= 12
  if (__builtin_cpu_supports("avx512fp16")) targets |= HWY_AVX3_SPR;
#endif
  return targets;
}

std::atomic<std::int64_t> targets_for_test{0};

}  // namespace
}  // namespace imgpipe

namespace hwy {

std::int64_t SupportedTargets() {
  const std::int64_t set = imgpipe::targets_for_test.load(std::memory_order_relaxed);
  return set != 0 ? set : imgpipe::detected_targets();
}

ChosenTarget& GetChosenTarget() {
  static ChosenTarget chosen;
  return chosen;
}

void SetSupportedTargetsForTest(std::int64_t targets) {
  imgpipe::targets_for_test.store(targets, std::memory_order_relaxed);
  GetChosenTarget().DeInit();  // the next call of a function chooses again
}

}  // namespace hwy

#endif
