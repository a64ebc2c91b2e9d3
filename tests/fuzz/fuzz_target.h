// A fuzz target is libFuzzer's entry point when fuzzing, and a function with the target's name in fuzz_tests.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef IMGPIPE_FUZZ_REPLAY
#define IMGPIPE_FUZZ_TARGET(name)                       \
  int name(const std::uint8_t* data, std::size_t size); \
  int name([[maybe_unused]] const std::uint8_t* data, [[maybe_unused]] std::size_t size)
#else
#define IMGPIPE_FUZZ_TARGET(name)                                                    \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size); \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
#endif
