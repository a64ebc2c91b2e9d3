// A floating-point environment that a host process may have set and that no result may depend on.
#pragma once

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace imgpipe::test {

// On x86: flushes denormals to zero, on both sides, and rounds up, on the calling thread and those that it
// starts.
class HostileFloats {
 public:
#if defined(__SSE__)
  HostileFloats() : before_(_mm_getcsr()) {
    _mm_setcsr(kHostile);
  }
  ~HostileFloats() {
    _mm_setcsr(before_);
  }
  // Whether no one has changed it.
  [[nodiscard]] bool is_set() const {
    return _mm_getcsr() == kHostile;
  }
#else
  HostileFloats() = default;
  [[nodiscard]] bool is_set() const {
    return true;
  }
#endif
  HostileFloats(const HostileFloats&) = delete;
  HostileFloats& operator=(const HostileFloats&) = delete;

 private:
#if defined(__SSE__)
  static constexpr unsigned kHostile = 0x1F80 | 0x8040 | 0x4000;  // FTZ and DAZ, rounding up
  static constexpr unsigned kFlags = 0x3F;
  unsigned before_;
#endif
};

}  // namespace imgpipe::test
