// The floating-point environment of host code that computes floats.
#pragma once

#if defined(__SSE__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace imgpipe {

// Rounds to nearest, keeps denormals and raises no signals on the calling thread, whatever its caller has
// set; restores that, status flags included, at the end of its scope.
class FloatEnvironment {
 public:
#if defined(__SSE__)
  FloatEnvironment() : before_(_mm_getcsr()) {
    _mm_setcsr(kPreset);
  }
  ~FloatEnvironment() {
    _mm_setcsr(before_);
  }
#else
  FloatEnvironment() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatEnvironment() {
    std::fesetenv(&before_);
  }
#endif
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
#if defined(__SSE__)
  static constexpr unsigned kPreset = 0x1F80;  // MXCSR at power-up (Intel SDM, volume 1, 10.2.3)
  unsigned before_;
#else
  std::fenv_t before_;
#endif
};

}  // namespace imgpipe
