// Archives: members in order for any sizes of reads, hostile headers, and errors that end an archive or not.
#include "images/files/archive_reader.h"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "images/files/archive_writer.h"
#include "tests/support/files.h"
#include "tests/support/tar_file.h"

namespace imgpipe::test::archive_reader_test {
namespace {

ByteSource source_of(const std::string& bytes, std::size_t read_size = 1 << 20) {
  return [bytes, read_size, given = std::size_t{0}](std::span<std::byte> buffer) mutable {
    const std::size_t count = std::min({read_size, buffer.size(), bytes.size() - given});
    std::ranges::copy(std::as_bytes(std::span(bytes)).subspan(given, count), buffer.begin());
    given += count;
    return count;
  };
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Listing {
  std::vector<std::pair<std::string, std::string>> members;  // names and data
  std::string reason;                                        // why the archive ended early
};

Listing listing_of(const std::string& archive, std::size_t read_size = 1 << 20) {
  ArchiveReader reader(source_of(archive, read_size));
  Listing found;
  try {
    while (const std::optional<ArchiveMember> member = reader.next()) {
      std::string data = text_of(reader.read_all(1 << 20));
      found.members.emplace_back(member->name, std::move(data));
    }
    EXPECT_FALSE(reader.is_broken());
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_TRUE(reader.is_broken());
    found.reason = error.what();
  }
  return found;
}

const std::vector<TarMember> kMembers{{.name = "a.jpg", .data = std::string(700, 'a')},
                                      {.name = "a.cls", .data = "7"},
                                      {.name = "empty.txt"},
                                      {.name = "/abs/../up\x1b\n.png", .data = "x"},
                                      {.name = "a.jpg", .data = std::string(512, 'b')},
                                      {.name = std::string("b\xff", 2), .data = "y"}};

TEST(ArchiveReader, ReturnsMembersInOrderForAnySizesOfReads) {
  for (const std::size_t read_size : {1U, 7U, 511U, 512U, 513U, 1U << 20}) {
    const Listing found = listing_of(tar_file(kMembers), read_size);
    EXPECT_EQ(found.reason, "");
    ASSERT_EQ(found.members.size(), kMembers.size()) << read_size;
    for (std::size_t i = 0; i < kMembers.size(); ++i) {
      EXPECT_EQ(found.members[i].first, kMembers[i].name);
      EXPECT_EQ(found.members[i].second, kMembers[i].data);
    }
  }
}

TEST(ArchiveReader, EveryTruncationKeepsTheMembersBeforeIt) {
  const std::string archive = tar_members(kMembers);
  for (std::size_t size = 1; size < archive.size(); size += 13) {
    const Listing found = listing_of(archive.substr(0, size));
    std::size_t at = 0, whole = 0;
    for (const TarMember& member : kMembers) {
      const std::size_t end = at + 512 + tar_data(member.data).size();
      if (end > size) break;
      ++whole;
      at = end;
    }
    EXPECT_EQ(found.members.size(), whole) << size;
    EXPECT_EQ(found.reason.empty(), size == at) << size << " of " << archive.size();
  }
}

TEST(ArchiveReader, DamagedHeadersEndTheArchive) {
  std::string archive = tar_file(kMembers);
  archive[1536 + 3] ^= 1;  // the name of the second member, which the checksum covers
  const Listing found = listing_of(archive);
  EXPECT_EQ(found.members.size(), 1U);
  EXPECT_NE(found.reason.find("damaged archive: "), std::string::npos) << found.reason;
  for (const std::string& other : {std::string("GIF89a"), std::string(), std::string(600, 'x')}) {
    EXPECT_NE(listing_of(other).reason, "") << other.size();
    EXPECT_FALSE(is_archive(std::as_bytes(std::span(other)).first(std::min<std::size_t>(other.size(), 512))));
  }
  EXPECT_EQ(listing_of(std::string(10240, '\0')).members.size(), 0U);
}

TEST(ArchiveReader, HugeSizesInHeadersNeedNoMemory) {
  std::string base256(12, '\0');
  base256[0] = '\x80';
  base256[5] = '\x7f';
  for (const std::string& size : {std::string("77777777777"), base256}) {
    const std::string archive = tar_file({{.name = "a.jpg", .data = "abc", .size_field = size}});
    ArchiveReader reader(source_of(archive));
    const std::optional<ArchiveMember> member = reader.next();
    ASSERT_TRUE(member);
    EXPECT_GE(member->size_bytes, (std::int64_t{1} << 33U) - 1) << "as the header claims";
    EXPECT_THROW((void)reader.read_all(std::int64_t{1} << 40), Error);
    EXPECT_TRUE(reader.is_broken());
  }
}

TEST(ArchiveReader, MembersThatAreTooLongFailAlone) {
  ArchiveReader reader(source_of(tar_file(kMembers)));
  ASSERT_TRUE(reader.next());
  EXPECT_THROW((void)reader.read_all(699), Error);
  EXPECT_FALSE(reader.is_broken());
  const std::optional<ArchiveMember> next = reader.next();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->name, "a.cls");
  EXPECT_EQ(text_of(reader.read_all(1)), "7");
}

TEST(ArchiveReader, SkipsUnreadData) {
  ArchiveReader reader(source_of(tar_file(kMembers), 100));
  std::vector<std::string> names;
  std::byte first{};
  while (const std::optional<ArchiveMember> member = reader.next()) {
    names.push_back(member->name);
    if (member->size_bytes > 1) {
      EXPECT_EQ(reader.read(std::span(&first, 1)), 1U);
    }
  }
  EXPECT_EQ(names.size(), kMembers.size());
}

TEST(ArchiveReader, LinksAndDirectoriesAreNoFiles) {
  ArchiveReader reader(source_of(tar_file({{.name = "a"},
                                           {.name = "hard", .type = '1', .link = "a"},
                                           {.name = "soft", .type = '2', .link = "/etc/passwd"},
                                           {.name = "d/", .type = '5'}})));
  EXPECT_TRUE(reader.next()->is_file);
  const std::optional<ArchiveMember> hard = reader.next();
  EXPECT_FALSE(hard->is_file);
  EXPECT_EQ(hard->hard_link, "a");
  EXPECT_FALSE(reader.next()->is_file);
  EXPECT_FALSE(reader.next()->is_file);
  EXPECT_FALSE(reader.next());
}

TEST(ArchiveReader, ThrowsTheErrorsOfItsSource) {
  const std::string archive = tar_file(kMembers);
  for (const std::size_t failing : {0U, 100U, 600U, 1300U}) {
    ArchiveReader reader([&, given = std::size_t{0}](std::span<std::byte> buffer) mutable {
      if (given >= failing) throw std::runtime_error("the source failed");
      const std::size_t count = std::min({buffer.size(), failing - given});
      std::ranges::copy(std::as_bytes(std::span(archive)).subspan(given, count), buffer.begin());
      given += count;
      return count;
    });
    EXPECT_THROW(
        {
          while (reader.next()) (void)reader.read_all(1000);
        },
        std::runtime_error)
        << failing;
    EXPECT_TRUE(reader.is_broken());
  }
}

TEST(ArchiveReader, NamesTellArchivesByTheirEndings) {
  EXPECT_EQ(archive_ending("a/shard-0001.tar"), ".tar");
  EXPECT_EQ(archive_ending("a.b.TAR.gz"), ".TAR.gz");
  EXPECT_EQ(archive_ending("a.tgz"), ".tgz");
  for (const char* other : {"", ".tar", "tar", "a.tar.png", "a.tar/", "a.zip", "atar"})
    EXPECT_EQ(archive_ending(other), "") << other;
  const std::string archive = tar_file(kMembers);
  EXPECT_TRUE(is_archive(std::as_bytes(std::span(archive)).first(512)));
}

TEST(ArchiveWriter, WritesTheSameBytesEachTimeAndTheirEndOnlyWhenClosed) {
  const std::string archive = tar_file(kMembers);
  std::vector<std::string> copies(2);
  for (std::string& copy : copies) {
    ArchiveReader reader(source_of(archive));
    ArchiveWriter writer([&](std::span<const std::byte> bytes) {
      copy.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    });
    while (const std::optional<ArchiveMember> member = reader.next()) {
      writer.begin(*member);
      writer.append(reader.read_all(1000));
    }
    if (&copy == &copies.front()) writer.close();
  }
  EXPECT_EQ(listing_of(copies[0]).members, listing_of(archive).members);
  EXPECT_EQ(copies[0].size() % 10240, 0U);
  EXPECT_TRUE(copies[0].starts_with(copies[1]));
  EXPECT_LT(copies[1].size(), copies[0].size());
}

TEST(ArchiveWriter, HeadersThatTarCannotStoreFailAlone) {
  const std::string negative = "\xff\xff\xff\xff\xff\xff\xff\xfe";
  ArchiveReader reader(source_of(tar_file({{.name = "a", .owner_field = negative}, {.name = "b"}})));
  std::string copy;
  ArchiveWriter writer([&](std::span<const std::byte> bytes) {
    copy.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  });
  EXPECT_THROW(writer.begin(*reader.next()), Error);
  writer.begin(*reader.next());
  writer.close();
  const Listing found = listing_of(copy);
  ASSERT_EQ(found.members.size(), 1U);
  EXPECT_EQ(found.members[0].first, "b");
}

TEST(ArchiveWriter, ThrowsTheErrorsOfItsSink) {
  ArchiveReader reader(source_of(tar_file(kMembers)));
  ArchiveWriter writer(
      [](std::span<const std::byte>) { throw Error(ErrorKind::output, "the disk is full"); });
  writer.begin(*reader.next());
  writer.append(reader.read_all(1000));
  EXPECT_THROW(writer.close(), Error);
}

}  // namespace
}  // namespace imgpipe::test::archive_reader_test
