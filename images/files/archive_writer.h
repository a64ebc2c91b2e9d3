// Writes a tar archive to any sink of bytes: ustar headers, and pax headers where ustar cannot express a
// member. The bytes depend only on the members.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "images/files/archive_reader.h"

namespace imgpipe {

class ArchiveWriter {
 public:
  explicit ArchiveWriter(std::function<void(std::span<const std::byte>)> sink);
  ~ArchiveWriter();  // without close(), the archive has no end
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;

  // Throws Error(input) if the header would end the archive: its owner is a negative number.
  static void check(const ArchiveMember& member);
  // Begins a member with the header `member.header`, but the name, hard link and size of `member`. Exactly
  // `size_bytes` bytes of data must follow. A sparse member becomes an ordinary one. All functions throw
  // Error(output) and the sink's errors. If tar cannot express the header, begin() throws Error(input) and
  // writes nothing.
  void begin(const ArchiveMember& member);
  void append(std::span<const std::byte> data);
  void close();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace imgpipe
