// Replaces `new` and `delete` of the program, as the standard allows ([replacement.functions]), but not of
// shared libraries if libstdc++ is linked statically: large blocks come from the pool, small ones from
// malloc. The forms not defined here call these. This is a separate file so that a program with its own
// replacements does not link it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "images/memory/block_pool.h"
#include "images/memory/sanitizers.h"

#ifndef IMGPIPE_SANITIZER_ALLOCATES

namespace imgpipe {
namespace {

void* allocate(std::size_t bytes, std::size_t alignment) {
  for (;;) {
    void* block = nullptr;
    if (bytes >= BlockPool::kMinBytes && alignment <= BlockPool::kPageBytes) block = block_pool().take(bytes);
    if (block == nullptr) {
      block = alignment <= alignof(std::max_align_t)
                  ? std::malloc(bytes > 0 ? bytes : 1)
                  : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    }
    if (block != nullptr) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

// malloc rarely returns page-aligned blocks, so few small blocks cause a lookup in the pool.
void release(void* block) noexcept {
  if (block == nullptr) return;
  const bool on_page = reinterpret_cast<std::uintptr_t>(block) % BlockPool::kPageBytes == 0;
  if (on_page && block_pool().give_back(block)) return;
  std::free(block);
}

}  // namespace
}  // namespace imgpipe

void* operator new(std::size_t bytes) {
  return imgpipe::allocate(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return imgpipe::allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* block) noexcept {
  imgpipe::release(block);
}
void operator delete(void* block, std::size_t) noexcept {
  imgpipe::release(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  imgpipe::release(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  imgpipe::release(block);
}

#endif
