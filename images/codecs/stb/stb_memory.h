// Memory for stb: zeroed and within a budget when decoding; failed allocations throw when encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "images/error.h"

namespace imgpipe {

// The number of bytes that stb may still allocate on this thread. Each block is preceded by its size.
inline thread_local std::int64_t stb_budget_bytes = 0;
inline thread_local bool stb_no_memory = false;  // the system refused the last allocation
inline constexpr std::size_t kStbBlockHeader = alignof(std::max_align_t);

// Allocates zeroed memory from the budget; returns nullptr if the budget or the system has less.
inline void* stb_allocate(std::size_t bytes) {
  if (static_cast<std::int64_t>(bytes) < 0 || static_cast<std::int64_t>(bytes) > stb_budget_bytes)
    return nullptr;
  void* block = std::calloc(1, bytes + kStbBlockHeader);
  stb_no_memory = block == nullptr;
  if (block == nullptr) return nullptr;
  std::memcpy(block, &bytes, sizeof bytes);
  stb_budget_bytes -= static_cast<std::int64_t>(bytes);
  return static_cast<char*>(block) + kStbBlockHeader;
}

inline void stb_free(void* pointer) {
  if (pointer == nullptr) return;
  void* block = static_cast<char*>(pointer) - kStbBlockHeader;
  std::size_t bytes = 0;
  std::memcpy(&bytes, block, sizeof bytes);
  stb_budget_bytes += static_cast<std::int64_t>(bytes);
  std::free(block);
}

inline void* stb_reallocate(void* pointer, std::size_t bytes) {
  void* grown = stb_allocate(bytes);
  if (grown == nullptr || pointer == nullptr) return grown;
  std::size_t old_bytes = 0;
  std::memcpy(&old_bytes, static_cast<char*>(pointer) - kStbBlockHeader, sizeof old_bytes);
  std::memcpy(grown, pointer, old_bytes < bytes ? old_bytes : bytes);
  stb_free(pointer);
  return grown;
}

// stb_image_write does not check its allocations, so they throw Error(memory).
[[noreturn]] inline void no_memory_to_encode(std::size_t bytes) {
  throw Error(ErrorKind::memory, "not enough memory to encode: " + std::to_string(bytes) + " bytes needed");
}

inline void* stb_write_allocate(std::size_t bytes) {
  void* block = std::malloc(bytes);
  if (block == nullptr) no_memory_to_encode(bytes);
  return block;
}

inline void* stb_write_reallocate(void* pointer, std::size_t bytes) {
  void* block = std::realloc(pointer, bytes);
  if (block == nullptr) no_memory_to_encode(bytes);
  return block;
}

}  // namespace imgpipe
