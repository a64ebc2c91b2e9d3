#include "pipeline/cuda/pinned_memory.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <sys/mman.h>

#include "pipeline/cuda/cuda_api.h"
#include "pipeline/device.h"

namespace imgpipe {
namespace {

constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;
constexpr std::size_t kPageBytes = std::size_t{1} << 12;

// Rounds up to one of a few sizes, at most an eighth apart, so that images of similar size can reuse blocks.
std::size_t block_bytes(std::size_t bytes) {
  const std::size_t page = bytes < kHugePageBytes ? kPageBytes : kHugePageBytes;
  const std::size_t step = std::max(page, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

// Maps a block aligned to its page size. `bytes` is a multiple of that size.
void* map_block(std::size_t bytes) {
  const std::size_t page = bytes < kHugePageBytes ? kPageBytes : kHugePageBytes;
  const std::size_t more = page == kPageBytes ? 0 : page;
  void* mapped = ::mmap(nullptr, bytes + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  char* const start = static_cast<char*>(mapped);
  const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(start) % page) % page;
  if (more > 0) {
    if (before > 0) ::munmap(start, before);
    if (more > before) ::munmap(start + before + bytes, more - before);
    (void)::madvise(start + before, bytes, MADV_HUGEPAGE);  // optional: small pages work, too
  }
  return start + before;
}

cudaError_t register_block(const void* block, std::size_t bytes) {
  cudaError_t status = cudaSuccess;
  if (!take_cuda_fault(status))
    status = cudaHostRegister(const_cast<void*>(block), bytes, cudaHostRegisterPortable);
  return status;
}

// Whether the status means that no memory, or no more memory, can be pinned.
bool is_limit(cudaError_t status) {
  return status == cudaErrorMemoryAllocation || status == cudaErrorNotSupported ||
         status == cudaErrorNotPermitted;
}

}  // namespace

PinnedMemory::~PinnedMemory() {
  for (const auto& [block, about] : blocks_) unmap(block, about);
}

void PinnedMemory::unmap(const void* block, const Block& about) const {
  if (about.pinned) {
    const DeviceRestorer restorer;
    (void)cudaSetDevice(device_);
    (void)cudaHostUnregister(const_cast<void*>(block));
  }
  ::munmap(const_cast<void*>(block), about.bytes);
}

void* PinnedMemory::do_allocate(std::size_t bytes, std::size_t) {
  const std::size_t size = block_bytes(bytes);
  void* block = nullptr;
  {
    const std::lock_guard lock(mutex_);
    for (const bool pinned : {true, false}) {
      const auto found = idle_.find({size, pinned});
      if (block != nullptr || found == idle_.end() || found->second.empty()) continue;
      block = found->second.back();
      found->second.pop_back();
      idle_bytes_ -= size;
    }
  }
  if (block == nullptr) {
    block = map_block(size);
    const std::lock_guard lock(mutex_);
    blocks_[block] = {size, false};
  }
  if (when_ == When::at_once) {
    try {
      pin(block);
    } catch (...) {
      do_deallocate(block, bytes, 0);
      throw;
    }
  }
  return block;
}

void PinnedMemory::pin(const void* block) {
  std::size_t bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(block);
    if (found == blocks_.end() || found->second.pinned) return;
    bytes = found->second.bytes;
  }
  // No lock is needed: only the block's owner pins it.
  cudaError_t status = register_block(block, bytes);
  if (is_limit(status)) {
    release_idle();
    status = register_block(block, bytes);
  }
  if (is_limit(status)) {
    (void)cudaGetLastError();  // the next launch would report it
    warn_of_devices(std::string("CUDA cannot pin host memory (") + cudaGetErrorString(status) +
                    "): copies to and from devices are slower; raise the limit on locked memory "
                    "(ulimit -l, WSL2's memory)");
    return;
  }
  check(status, "cudaHostRegister(");
  const std::lock_guard lock(mutex_);
  blocks_[block].pinned = true;
}

void PinnedMemory::release_idle() {
  std::vector<std::pair<const void*, Block>> blocks;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [kind, idle] : idle_) {
      for (const void* const block : idle) blocks.emplace_back(block, blocks_.extract(block).mapped());
      idle_bytes_ -= kind.first * idle.size();
      idle.clear();
    }
  }
  for (const auto& [block, about] : blocks) unmap(block, about);
}

void PinnedMemory::do_deallocate(void* block, std::size_t, std::size_t) {
  std::vector<std::pair<void*, Block>> surplus;
  {
    const std::lock_guard lock(mutex_);
    const Block about = blocks_.at(block);
    idle_[{about.bytes, about.pinned}].push_back(block);
    idle_bytes_ += about.bytes;
    // The largest first, because they are the rarest.
    for (auto largest = idle_.rbegin(); idle_bytes_ > idle_limit_ && largest != idle_.rend(); ++largest) {
      while (idle_bytes_ > idle_limit_ && !largest->second.empty()) {
        void* const one = largest->second.back();
        largest->second.pop_back();
        idle_bytes_ -= largest->first.first;
        surplus.emplace_back(one, blocks_.at(one));
        blocks_.erase(one);
      }
    }
  }
  for (const auto& [one, about] : surplus) unmap(one, about);
}

}  // namespace imgpipe
