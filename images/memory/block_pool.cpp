#include "images/memory/block_pool.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <new>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace imgpipe {
namespace {

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + BlockPool::kPageBytes - 1) / BlockPool::kPageBytes * BlockPool::kPageBytes;
}

// Maps a block of `bytes`; reuses the pages of `old` if not null.
void* map(void* old, std::size_t old_bytes, std::size_t bytes) {
  if (old != nullptr) {
    void* const moved = ::mremap(old, old_bytes, bytes, MREMAP_MAYMOVE);
    if (moved != MAP_FAILED) return moved;
    ::munmap(old, old_bytes);
  }
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

// Whether a block is large enough and its excess at most an eighth of the request, or 3 times the request
// while there is plenty of capacity. Photographs in one directory differ by that much (120 JPEGs of 2 to 9
// MP, 2-core Xeon, 2026-11-21: 66,400 page faults with an eighth, 10,400 with 3 times).
bool fits(std::size_t block_bytes, std::size_t bytes, bool plenty) {
  return block_bytes >= bytes && block_bytes - bytes <= (plenty ? 3 * bytes : bytes / 8);
}

}  // namespace

BlockPool::~BlockPool() {
  for (const auto& [bytes, block] : kept_) ::munmap(block, bytes);
}

void* BlockPool::take(std::size_t bytes) noexcept {
  if (bytes > static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max()) / 4) return nullptr;
  std::size_t size = whole_pages(bytes);
  std::size_t spare = 0;
  Block block;
  {
    const std::lock_guard lock(mutex_);
    in_use_bytes_ += static_cast<std::int64_t>(size);
    peak_bytes_ = std::max(peak_bytes_, in_use_bytes_ - spare_bytes_);
    block = take_cached(size);
    const auto more = static_cast<std::int64_t>(block.bytes) - static_cast<std::int64_t>(size);
    if (fits(block.bytes, size, plenty()) && in_use_bytes_ + kept_bytes_ + more <= capacity()) {
      in_use_bytes_ += more;
      spare_bytes_ += more;
      spare = static_cast<std::size_t>(more);
      size = block.bytes;
    }
  }
  drop_surplus();  // before more is mapped
  if (block.bytes != size) {
    block.start = map(block.start, block.bytes, size);
    if (block.start == nullptr) {  // kept blocks count where the address space is limited
      drop_cached_beyond(0);
      block.start = map(nullptr, 0, size);
    }
    if (block.start != nullptr && size >= kHugeBlockBytes && has_huge_pages(size))
      ::madvise(block.start, size, MADV_HUGEPAGE);  // a hint: failure changes nothing
  }
  const std::lock_guard lock(mutex_);
  try {
    if (block.start != nullptr) in_use_.emplace(block.start, BlockInUse{size, spare});
  } catch (const std::bad_alloc&) {
    ::munmap(block.start, size);
    block.start = nullptr;
  }
  if (block.start == nullptr) {
    in_use_bytes_ -= static_cast<std::int64_t>(size);
    spare_bytes_ -= static_cast<std::int64_t>(spare);
  }
  return block.start;
}

bool BlockPool::give_back(void* block) noexcept {
  std::size_t bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = in_use_.find(block);
    if (found == in_use_.end()) return false;
    bytes = found->second.bytes;
    spare_bytes_ -= static_cast<std::int64_t>(found->second.spare);
    in_use_.erase(found);
    in_use_bytes_ -= static_cast<std::int64_t>(bytes);
    try {
      if (in_use_bytes_ + kept_bytes_ + static_cast<std::int64_t>(bytes) <= capacity()) {
        kept_.emplace(bytes, block);
        kept_bytes_ += static_cast<std::int64_t>(bytes);
        return true;
      }
    } catch (const std::bad_alloc&) {
      // No memory for the list entry: the block is freed below.
    }
  }
  ::munmap(block, bytes);
  return true;
}

void BlockPool::set_limit(std::int64_t bytes) noexcept {
  {
    const std::lock_guard lock(mutex_);
    limit_bytes_ = bytes;
    peak_bytes_ = in_use_bytes_ - spare_bytes_;
  }
  drop_surplus();
}

void BlockPool::set_outside(std::int64_t bytes) noexcept {
  {
    const std::lock_guard lock(mutex_);
    outside_bytes_ = bytes;
  }
  drop_surplus();
}

BlockPool::Use BlockPool::use() const noexcept {
  const std::lock_guard lock(mutex_);
  return {in_use_bytes_, kept_bytes_, peak_bytes_, limit_bytes_, outside_bytes_};
}

// Sizes differ, so the limit is a little above the peak. Without a limit by peak, a long run would eventually
// keep blocks of every size it has seen.
std::int64_t BlockPool::capacity() const noexcept {
  constexpr std::int64_t kFewBytes = std::int64_t{4} << 20;
  const std::int64_t more = plenty() ? peak_bytes_ / 2 : peak_bytes_ / 8;
  const std::int64_t most = std::min(limit() - outside_bytes_, peak_bytes_ + more + kFewBytes);
  return limit_bytes_ == kNoLimit ? std::max(most, peak_bytes_) : most;
}

// Far from the limit, faulting in new pages costs more than idle memory.
bool BlockPool::plenty() const noexcept {
  return 4 * peak_bytes_ <= limit() - outside_bytes_;
}

// Returns the best fit. Without capacity for a new block, returns any other, preferably a larger one, whose
// pages the caller reuses by resizing it. The requested bytes already count as in use.
BlockPool::Block BlockPool::take_cached(std::size_t bytes) noexcept {
  auto at = kept_.lower_bound(bytes);
  if (at == kept_.end() || !fits(at->first, bytes, plenty())) {
    const bool room_for_new = in_use_bytes_ + kept_bytes_ <= capacity();
    if (room_for_new || kept_.empty()) return {};
    if (at == kept_.end()) at = std::prev(at);
  }
  return remove_cached(at);
}

BlockPool::Block BlockPool::remove_cached(Kept::iterator at) noexcept {
  const Block block{at->second, at->first};
  kept_.erase(at);
  kept_bytes_ -= static_cast<std::int64_t>(block.bytes);
  return block;
}

// Drops the largest first: they are the rarest.
void BlockPool::drop_cached_beyond(std::int64_t bytes) noexcept {
  for (;;) {
    Block block;
    {
      const std::lock_guard lock(mutex_);
      if (kept_.empty() || kept_bytes_ <= bytes) return;
      block = remove_cached(std::prev(kept_.end()));
    }
    ::munmap(block.start, block.bytes);
  }
}

void BlockPool::drop_surplus() noexcept {
  std::int64_t most = 0;
  {
    const std::lock_guard lock(mutex_);
    most = capacity() - in_use_bytes_;
    if (kept_bytes_ <= most) return;
  }
  drop_cached_beyond(std::max<std::int64_t>(0, most));
}

bool has_huge_pages(std::size_t bytes) noexcept {
  static const bool allowed = [] {
    const char* const setting = std::getenv("IMGPIPE_HUGE_PAGES");
    return setting == nullptr || std::string_view(setting) != "0";
  }();
  if (!allowed) return false;
  const int file = ::open("/proc/buddyinfo", O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;  // unknown
  char text[8192];
  std::size_t read = 0;
  for (ssize_t more = 1; more > 0 && read < sizeof text;) {
    more = ::read(file, text + read, sizeof text - read);
    if (more > 0) read += static_cast<std::size_t>(more);
  }
  ::close(file);
  // Twice the bytes: other processes take huge pages too.
  return free_huge_bytes({text, read}) / 2 >= static_cast<std::int64_t>(bytes);
}

// A line is "Node 0, zone   Normal   512 260 ...": the free blocks of 1, 2, 4 ... pages.
std::int64_t free_huge_bytes(std::string_view buddyinfo) noexcept {
  constexpr int kHugeOrder = 9;
  std::int64_t bytes = 0;
  while (!buddyinfo.empty()) {
    std::string_view line = buddyinfo.substr(0, buddyinfo.find('\n'));
    buddyinfo.remove_prefix(std::min(line.size() + 1, buddyinfo.size()));
    const std::size_t zone = line.find("zone");
    if (zone == std::string_view::npos) continue;
    line.remove_prefix(zone);
    int order = -2;  // "zone" and its name
    while (!line.empty()) {
      const std::string_view word = line.substr(0, line.find(' '));
      line.remove_prefix(std::min(word.size() + 1, line.size()));
      if (word.empty()) continue;
      std::int64_t blocks = 0;
      if (order >= kHugeOrder) std::from_chars(word.data(), word.data() + word.size(), blocks);
      if (order >= kHugeOrder && order < 2 * kHugeOrder)
        bytes += blocks * (static_cast<std::int64_t>(BlockPool::kPageBytes) << order);
      ++order;
    }
  }
  return bytes;
}

BlockPool& block_pool() noexcept {
  alignas(BlockPool) static std::byte memory[sizeof(BlockPool)];
  static BlockPool* const pool = ::new (memory) BlockPool;
  return *pool;
}

}  // namespace imgpipe
