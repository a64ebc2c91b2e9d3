#include "tests/support/allocations.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

#include <malloc.h>

#include "tests/support/sanitizers.h"

namespace imgpipe::test {
namespace {

std::atomic<std::int64_t> held{0}, peak{0}, held_before{0};

[[maybe_unused]] void count(void* block) {
  if (block == nullptr) return;
  const auto bytes = static_cast<std::int64_t>(malloc_usable_size(block));
  const std::int64_t now = held.fetch_add(bytes) + bytes;
  std::int64_t most = peak.load();
  while (now > most && !peak.compare_exchange_weak(most, now)) {
  }
}

[[maybe_unused]] void discount(void* block) {
  if (block != nullptr) held.fetch_sub(static_cast<std::int64_t>(malloc_usable_size(block)));
}

}  // namespace

std::int64_t held_bytes() {
  return held.load();
}

void begin_counting_peak() {
  held_before = held.load();
  peak = held.load();
}

std::int64_t peak_bytes() {
  return peak.load() - held_before.load();
}

bool allocations_are_counted() {
  return !kSanitized;
}

}  // namespace imgpipe::test

#if !IMGPIPE_TEST_SANITIZED
// glibc's own functions, which those of the C library call.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* block);

void* malloc(std::size_t bytes) {
  void* block = __libc_malloc(bytes);
  imgpipe::test::count(block);
  return block;
}

void* calloc(std::size_t count, std::size_t bytes) {
  void* block = __libc_calloc(count, bytes);
  imgpipe::test::count(block);
  return block;
}

// Counts both blocks, which may exist at the same time.
void* realloc(void* block, std::size_t bytes) {
  if (block == nullptr) return malloc(bytes);
  const auto old = static_cast<std::int64_t>(malloc_usable_size(block));
  void* moved = __libc_realloc(block, bytes);
  if (moved == nullptr && bytes != 0) return nullptr;
  imgpipe::test::count(moved);
  imgpipe::test::held.fetch_sub(old);
  return moved;
}

void* memalign(std::size_t alignment, std::size_t bytes) {
  void* block = __libc_memalign(alignment, bytes);
  imgpipe::test::count(block);
  return block;
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return memalign(alignment, bytes);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  *block = memalign(alignment, bytes);
  return *block == nullptr ? ENOMEM : 0;
}

void free(void* block) {
  imgpipe::test::discount(block);
  __libc_free(block);
}
}

// Replace those of images/memory/new_delete.cpp, which map large blocks themselves.
void* operator new(std::size_t bytes) {
  if (void* const block = malloc(bytes > 0 ? bytes : 1)) return block;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  if (void* const block = memalign(static_cast<std::size_t>(alignment), bytes > 0 ? bytes : 1)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept {
  free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  free(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  free(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  free(block);
}
#endif
