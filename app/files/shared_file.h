// Files whose name several shards of a job share. Each shard writes the whole file.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "app/files/file_lock.h"
#include "app/files/replaceable.h"
#include "app/shard/shard.h"
#include "images/files/file_descriptor.h"

namespace imgpipe {

// While a lock exists, no other process with a lock on the same path reads or replaces the file. Creates an
// empty file if there is none. Locks regular files only, and nothing on file systems without locks.
class SharedFileLock {
 public:
  // Other processes hold it only while they write the file. Throws Error(output) with the path if the lock is
  // not released within `patience`.
  explicit SharedFileLock(const std::string& path, std::chrono::seconds patience = kPatience);

 private:
  static constexpr std::chrono::seconds kPatience{30};

  std::optional<FileDescriptor> file_;
  std::optional<FileLock> lock_;
};

// Returns why this shard may not write a report (.json) or trace: the file belongs to another shard and would
// be replaced silently. Returns "" if the shard may write it; always with --overwrite.
[[nodiscard]] std::string other_shard_reason(const std::string& path, const Shard& shard, Replace replace);

}  // namespace imgpipe
