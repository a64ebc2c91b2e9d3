#include "pipeline/cuda/device_arena.h"

#include <algorithm>
#include <string>
#include <utility>

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
    if (bytes > left_bytes()) (void)drop_unused();
    const std::size_t left = left_bytes();
    if (bytes > left)
      throw Error(ErrorKind::memory, "not enough device memory: " + std::to_string(bytes) +
                                         " bytes needed, " + std::to_string(left) + " of " +
                                         std::to_string(max_bytes_) + " are allowed");
    Block block;
    block.bytes = std::min(left, std::max({bytes, next_bytes_, kMinBlock}));
    try {
      block.memory.reserve(block.bytes);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::memory || (!drop_unused() && block.bytes == bytes)) throw;
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

std::byte* DeviceArena::kept(const std::shared_ptr<const void>& original) {
  for (KeptCopy& copy : kept_) {
    // Tables that share an owner differ in their addresses.
    if (copy.original.lock().get() != original.get()) continue;
    copy.is_in_use = true;
    return static_cast<std::byte*>(copy.memory.data());
  }
  return nullptr;
}

std::optional<DeviceBuffer> DeviceArena::reserve(std::size_t bytes) {
  if (bytes > left_bytes()) (void)drop_unused();
  if (bytes > left_bytes()) return std::nullopt;
  DeviceBuffer memory;
  try {
    memory.reserve(bytes);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::memory) throw;
    return std::nullopt;
  }
  return memory;
}

std::byte* DeviceArena::keep(const std::shared_ptr<const void>& original, DeviceBuffer copy) {
  return static_cast<std::byte*>(kept_.emplace_back(original, std::move(copy)).memory.data());
}

bool DeviceArena::drop_unused() noexcept {
  return std::erase_if(kept_, [](const KeptCopy& copy) { return !copy.is_in_use; }) > 0;
}

std::size_t DeviceArena::left_bytes() const noexcept {
  return max_bytes_ - std::min(max_bytes_, held_bytes());
}

std::size_t DeviceArena::held_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const Block& block : blocks_) bytes += block.bytes;
  for (const KeptCopy& copy : kept_) bytes += copy.memory.size_bytes();
  return bytes;
}

void DeviceArena::reset() noexcept {
  std::erase_if(kept_, [](const KeptCopy& copy) { return copy.original.expired(); });
  for (KeptCopy& copy : kept_) copy.is_in_use = false;
  std::size_t bytes = 0;
  for (Block& block : blocks_) {
    bytes += block.bytes;
    block.used = 0;
  }
  if (blocks_.size() < 2) return;
  blocks_.clear();
  next_bytes_ = bytes;
}

void DeviceArena::release() noexcept {
  blocks_.clear();
  kept_.clear();
  next_bytes_ = 0;
}

}  // namespace imgpipe
