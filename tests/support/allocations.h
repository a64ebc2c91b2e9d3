// Counts this program's bytes on the heap by calls of malloc and related functions, including calls by
// libraries. For tests that link allocations.cpp themselves.
#pragma once

#include <cstdint>

namespace imgpipe::test {

// False if a sanitizer replaces malloc.
[[nodiscard]] bool allocations_are_counted();

[[nodiscard]] std::int64_t held_bytes();

// The peak of held bytes since begin_counting_peak(), less those held then.
void begin_counting_peak();
[[nodiscard]] std::int64_t peak_bytes();

[[nodiscard]] std::int64_t peak_of(const auto& action) {
  begin_counting_peak();
  action();
  return peak_bytes();
}

}  // namespace imgpipe::test
