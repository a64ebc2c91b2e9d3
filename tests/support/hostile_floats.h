// A floating-point environment that a host process may have set, and on which no result may depend.
#pragma once

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace imgpipe::test {

enum class Rounding : bool { nearest, up };

// On x86: flushes denormal inputs and results to zero, on this thread and those that it starts.
class HostileFloats {
 public:
#if defined(__SSE__)
  explicit HostileFloats(Rounding rounding = Rounding::up)
      : hostile_(rounding == Rounding::up ? kFlushing | kUp : kFlushing) {
    _mm_setcsr(hostile_);
  }
  ~HostileFloats() {
    _mm_setcsr(before_);
  }
  // Whether the environment is unchanged, except for the exception flags.
  [[nodiscard]] bool is_set() const {
    return (_mm_getcsr() & ~kFlags) == hostile_;
  }
#else
  explicit HostileFloats(Rounding = Rounding::up) {}
  [[nodiscard]] bool is_set() const {
    return true;
  }
#endif
  HostileFloats(const HostileFloats&) = delete;
  HostileFloats& operator=(const HostileFloats&) = delete;

 private:
#if defined(__SSE__)
  // MXCSR: all exceptions masked; FTZ and DAZ; rounding up; the flags (Intel SDM, volume 1, 10.2.3).
  static constexpr unsigned kFlushing = 0x1F80 | 0x8040, kUp = 0x4000, kFlags = 0x3F;
  unsigned before_ = _mm_getcsr();
  unsigned hostile_;
#endif
};

}  // namespace imgpipe::test
