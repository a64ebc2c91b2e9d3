#include "images/memory/kept_memory.h"

#include <new>

#include "images/memory/sanitizers.h"

namespace imgpipe {

void KeptMemory::trim() noexcept {
  pool_.set_limit(0);
  pool_.set_limit(limit_);
}

void* KeptMemory::do_allocate(std::size_t bytes, std::size_t alignment) {
#ifdef IMGPIPE_SANITIZER_ALLOCATES
  return ::operator new(bytes, std::align_val_t(alignment));
#else
  void* const block = alignment <= BlockPool::kPageBytes ? pool_.take(bytes) : nullptr;
  if (block == nullptr) throw std::bad_alloc();
  return block;
#endif
}

void KeptMemory::do_deallocate(void* block, std::size_t bytes, std::size_t alignment) {
#ifdef IMGPIPE_SANITIZER_ALLOCATES
  ::operator delete(block, bytes, std::align_val_t(alignment));
#else
  (void)bytes, (void)alignment;
  (void)pool_.give_back(block);
#endif
}

}  // namespace imgpipe
