// What this program holds on the heap, byte for byte: malloc and its like are counted where they are called,
// those of the libraries among them. For tests that link allocations.cpp themselves.
#pragma once

#include <cstdint>

namespace imgpipe::test {

// False where a sanitizer has malloc for itself.
[[nodiscard]] bool allocations_are_counted();

[[nodiscard]] std::int64_t held_bytes();

// The most bytes that `action` held at one time more than were held before it.
void begin_counting_peak();
[[nodiscard]] std::int64_t peak_bytes();

[[nodiscard]] std::int64_t peak_of(const auto& action) {
  begin_counting_peak();
  action();
  return peak_bytes();
}

}  // namespace imgpipe::test
