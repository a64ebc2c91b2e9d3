// Reads any bytes as an archive, in blocks of several sizes. The members and the end do not depend on the
// block size. The members are written to an archive, and found in it again.
#include <algorithm>
#include <string>
#include <vector>

#include "images/error.h"
#include "images/files/archive_reader.h"
#include "images/files/archive_writer.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using Bytes = std::span<const std::byte>;

constexpr std::int64_t kMaxBytes = std::int64_t{1} << 16;  // of a member

void demand(bool condition) {
  if (!condition) __builtin_trap();
}

struct FoundMember {
  imgpipe::ArchiveMember member;
  std::vector<std::byte> data;
  std::string reason;  // why the data is missing

  bool operator==(const FoundMember& other) const {
    return member.name == other.member.name && member.is_file == other.member.is_file &&
           member.size_bytes == other.member.size_bytes && member.hard_link == other.member.hard_link &&
           data == other.data && reason == other.reason;
  }
};

struct FoundMembers {
  std::vector<FoundMember> members;
  std::string end;  // the error message; empty: none

  bool operator==(const FoundMembers&) const = default;
};

FoundMembers members_of(Bytes archive, std::size_t read_size) {
  std::size_t given = 0;
  imgpipe::ArchiveReader reader([&](std::span<std::byte> buffer) {
    const std::size_t count = std::min({read_size, buffer.size(), archive.size() - given});
    std::ranges::copy(archive.subspan(given, count), buffer.begin());
    given += count;
    return count;
  });
  FoundMembers found;
  try {
    while (std::optional<imgpipe::ArchiveMember> member = reader.next()) {
      found.members.push_back({.member = *std::move(member), .data = {}, .reason = {}});
      FoundMember& last = found.members.back();
      try {
        last.data = reader.read_all(kMaxBytes);
      } catch (const imgpipe::Error& error) {
        last.reason = error.what();
        if (reader.is_broken()) throw;
      }
    }
    demand(!reader.is_broken());
    reader.drain();
    demand(given == archive.size());
  } catch (const imgpipe::Error& error) {
    demand(reader.is_broken() && error.kind() == imgpipe::ErrorKind::input);
    found.end = error.what();
  }
  return found;
}

}  // namespace

IMGPIPE_FUZZ_TARGET(fuzz_archive) {
  if (size == 0) return 0;
  const Bytes archive = std::as_bytes(std::span(data, size)).subspan(1);
  (void)imgpipe::is_archive(archive.first(std::min(archive.size(), imgpipe::kArchiveHeadBytes)));
  FoundMembers found = members_of(archive, archive.size() + 1);
  demand(members_of(archive, 1 + data[0]) == found);
  std::vector<std::byte> copy;
  imgpipe::ArchiveWriter writer([&](Bytes bytes) { copy.insert(copy.end(), bytes.begin(), bytes.end()); });
  std::vector<FoundMember> copied;
  for (FoundMember& one : found.members) {
    if (!one.reason.empty()) continue;
    one.member.size_bytes = static_cast<std::int64_t>(one.data.size());
    try {
      writer.begin(one.member);
    } catch (const imgpipe::Error& error) {
      demand(error.kind() == imgpipe::ErrorKind::input);
      continue;
    }
    writer.append(one.data);
    copied.push_back(std::move(one));
  }
  writer.close();
  const FoundMembers again = members_of(copy, copy.size());
  demand(again.end.empty() && again.members.size() == copied.size());
  for (std::size_t i = 0; i < copied.size(); ++i) {
    demand(again.members[i].data == copied[i].data);
    demand(again.members[i].member.name == copied[i].member.name || copied[i].member.name.empty() ||
           copied[i].member.name.ends_with('/') || !copied[i].member.is_file);
  }
  return 0;
}
