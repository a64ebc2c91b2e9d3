// Any bytes as a file, for functions that read a path.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "images/files/file_descriptor.h"

namespace imgpipe::test {

// Returns the path of an unnamed file with these bytes; the next call overwrites it.
inline std::string path_of(std::span<const std::byte> bytes) {
  static const FileDescriptor file(::memfd_create("fuzz", MFD_CLOEXEC));
  if (::ftruncate(file.get(), 0) != 0 || write_fully(file.get(), bytes, 0) != bytes.size()) __builtin_trap();
  return "/proc/self/fd/" + std::to_string(file.get());
}

}  // namespace imgpipe::test
