#include "pipeline/cuda/device_arena.h"

#include <algorithm>
#include <string>

#include "images/error.h"

namespace imgpipe {
namespace {

constexpr std::size_t kBoundary = 256;
// Small images share a block; drivers allocate at least 2 MB.
constexpr std::size_t kMinBlock = std::size_t{8} << 20;

}  // namespace

std::byte* DeviceArena::take(std::size_t bytes) {
  bytes = (bytes + kBoundary - 1) / kBoundary * kBoundary;
  if (blocks_.empty() || blocks_.back().bytes - blocks_.back().used < bytes) {
    const std::size_t left = max_bytes_ - std::min(max_bytes_, held_bytes());
    if (bytes > left)
      throw Error(ErrorKind::memory, "not enough device memory: " + std::to_string(bytes) +
                                         " bytes needed, " + std::to_string(left) + " of " +
                                         std::to_string(max_bytes_) + " are allowed");
    Block block;
    block.bytes = std::min(left, std::max({bytes, next_bytes_, kMinBlock}));
    try {
      block.memory.reserve(block.bytes);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::memory || block.bytes == bytes) throw;
      block.bytes = bytes;  // retry without spare bytes
      block.memory.reserve(bytes);
    }
    blocks_.push_back(std::move(block));
  }
  Block& block = blocks_.back();
  std::byte* const taken = static_cast<std::byte*>(block.memory.data()) + block.used;
  block.used += bytes;
  return taken;
}

std::size_t DeviceArena::held_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const Block& block : blocks_) bytes += block.bytes;
  return bytes;
}

void DeviceArena::reset() noexcept {
  std::size_t bytes = 0;
  for (Block& block : blocks_) {
    bytes += block.bytes;
    block.used = 0;
  }
  if (blocks_.size() < 2) return;
  release();
  next_bytes_ = bytes;
}

void DeviceArena::release() noexcept {
  blocks_.clear();
  next_bytes_ = 0;
}

}  // namespace imgpipe
