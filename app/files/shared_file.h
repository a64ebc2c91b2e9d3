// Files that several shards of a job were given one name for, and that each writes whole.
#pragma once

#include <string>

#include "app/options/options.h"

namespace imgpipe {

// While one lives, no other process that makes one of the same file reads or replaces it. It makes an empty
// file where there is none. What is no regular file is not locked, nor anything where the file system has no
// locks.
class SharedFileLock {
 public:
  explicit SharedFileLock(const std::string& path);
  ~SharedFileLock();
  SharedFileLock(const SharedFileLock&) = delete;
  SharedFileLock& operator=(const SharedFileLock&) = delete;

 private:
  int fd_ = -1;
};

// Why a report (.json) or a trace may not be written by this shard: it is that of another one, whose it would
// silently replace. "" where it may, and with --overwrite.
[[nodiscard]] std::string why_of_another_shard(const std::string& path, const Shard& shard, Replace replace);

}  // namespace imgpipe
