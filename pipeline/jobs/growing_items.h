// The items of a list that grows.
#pragma once

#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "pipeline/jobs/batch.h"

namespace imgpipe {

// Keeps each item until its image ends. Thread-safe.
class GrowingItems {
 public:
  void add(BatchItem item) {
    const std::lock_guard lock(mutex_);
    items_.emplace(next_++, std::move(item));
  }
  [[nodiscard]] BatchItem at(std::size_t index) const {
    const std::lock_guard lock(mutex_);
    return items_.at(index);
  }
  void remove(std::size_t index) noexcept {
    const std::lock_guard lock(mutex_);
    items_.erase(index);
  }

 private:
  mutable std::mutex mutex_;
  std::size_t next_ = 0;
  std::unordered_map<std::size_t, BatchItem> items_;
};

}  // namespace imgpipe
