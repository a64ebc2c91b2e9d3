// Files that several shards of a job were given one name for, and that each writes whole.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "app/files/file_lock.h"
#include "app/files/replaceable.h"
#include "app/shard/shard.h"
#include "images/files/file_descriptor.h"

namespace imgpipe {

// While one lives, no other process that makes one of the same file reads or replaces it. It makes an empty
// file where there is none. What is no regular file is not locked, nor anything where the file system has no
// locks.
class SharedFileLock {
 public:
  // Others hold it for as long as writing the file takes. Throws Error(output) with the path where one does
  // not give it back within `patience`.
  explicit SharedFileLock(const std::string& path, std::chrono::seconds patience = kPatience);

 private:
  static constexpr std::chrono::seconds kPatience{30};

  std::optional<FileDescriptor> file_;
  std::optional<FileLock> lock_;
};

// Why a report (.json) or a trace may not be written by this shard: it is that of another one, whose it would
// silently replace. "" where it may, and with --overwrite.
[[nodiscard]] std::string why_of_another_shard(const std::string& path, const Shard& shard, Replace replace);

}  // namespace imgpipe
