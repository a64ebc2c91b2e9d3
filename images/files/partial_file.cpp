#include "images/files/partial_file.h"

#include <algorithm>
#include <utility>

#include <sys/mman.h>

#include "images/error.h"
#include "images/memory/available_memory.h"

namespace imgpipe {
namespace {

constexpr std::uint64_t kBlockBytes = std::uint64_t{64} << 10;

}  // namespace

PartialFile::PartialFile(InputFile file) : file_(std::move(file)) {
  const auto size = static_cast<std::size_t>(file_.size_bytes());
  if (file_.is_whole() || size == 0) {
    loaded_bytes_ = static_cast<std::int64_t>(size);
    return;
  }
  loaded_.resize((size + kBlockBytes - 1) / kBlockBytes);
  void* const memory =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw Error(ErrorKind::memory, "not enough memory");
  memory_ = {static_cast<std::byte*>(memory), size};
}

PartialFile::~PartialFile() {
  if (!memory_.empty()) ::munmap(memory_.data(), memory_.size());
}

std::span<const std::byte> PartialFile::bytes() const noexcept {
  return memory_.empty() ? file_.bytes() : std::span<const std::byte>(memory_);
}

void PartialFile::load(std::uint64_t at, std::uint64_t count) {
  if (at >= memory_.size() || count == 0) return;
  const std::uint64_t end = at + std::min<std::uint64_t>(count, memory_.size() - at);
  for (std::uint64_t block = at / kBlockBytes; block * kBlockBytes < end; ++block) {
    if (loaded_[block]) continue;
    // Adjacent blocks are read in one call.
    std::uint64_t last = block + 1;
    while (last * kBlockBytes < end && !loaded_[last]) ++last;
    const std::span<std::byte> part =
        memory_.subspan(block * kBlockBytes,
                        std::min(last * kBlockBytes, std::uint64_t{memory_.size()}) - block * kBlockBytes);
    check_available(static_cast<std::int64_t>(part.size()));
    if (file_.read_at(static_cast<std::int64_t>(block * kBlockBytes), part) != part.size())
      throw Error(ErrorKind::input, "the file was truncated while it was read");
    std::fill(loaded_.begin() + static_cast<std::ptrdiff_t>(block),
              loaded_.begin() + static_cast<std::ptrdiff_t>(last), true);
    loaded_bytes_ += static_cast<std::int64_t>(part.size());
    block = last - 1;
  }
}

}  // namespace imgpipe
