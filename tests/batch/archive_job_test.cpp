// Archives through a batch: the same bytes for any number of jobs, lanes that fail and little memory; errors
// of members, of the archive and of its output.
#include "pipeline/jobs/archive_job.h"

#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "tests/support/batch_folder.h"
#include "tests/support/files.h"
#include "tests/support/host_lane.h"
#include "tests/support/tar_file.h"

namespace imgpipe::test::archive_job_test {
namespace {

using Names = std::vector<std::string>;

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class ArchiveJobTest : public BatchTest {
 protected:
  void SetUp() override {
    BatchTest::SetUp();
    for (const std::string& name : names_) {
      members_.push_back({.name = name, .data = text_of(load(in_.file(name)))});
      members_.push_back({.name = name + ".cls", .data = std::to_string(members_.size())});
    }
    members_.push_back({.name = "cut.png", .data = members_.front().data.substr(0, 50)});
    members_.push_back({.name = "long.bin", .data = std::string(3'000'000, 'x')});
  }

  // What became of a run over archives a, b, ... with these contents.
  struct Ended {
    Names done, failed, left_out;
    std::vector<std::string> archives;  // by archive: "", or why it failed
    std::vector<std::string> outputs;   // by archive
    std::optional<Error> fatal;
    std::int64_t peak_bytes = 0;
  };

  Ended run_archives(const std::vector<std::string>& archives, BatchSettings with,
                     std::int64_t waiting_bytes = 1 << 20) {
    Ended ended;
    std::vector<ArchiveFiles> files;
    for (std::size_t i = 0; i < archives.size(); ++i) {
      const std::string name(1, static_cast<char>('a' + i));
      save(in_.file(name + ".tar"), std::as_bytes(std::span(archives[i])));
      files.push_back({in_.file(name + ".tar"), out_.file(output_ + name + ".tar"), name, "out " + name});
    }
    ended.archives.resize(archives.size(), "not ended");
    ArchiveSettings settings{.is_image = [](ArchiveImage& image) { return to_png(image); },
                             .waiting_bytes = waiting_bytes};
    Batch batch(std::move(with));
    {
      ArchiveJob job(files, std::move(settings),
                     {.found = [](const ArchiveImage&) {},
                      .ended =
                          [&](const ArchiveImage& image, const BatchResult& result) {
                            (result.failed ? ended.failed : ended.done).push_back(image.name);
                          },
                      .left_out = [&](std::size_t, const std::string& member,
                                      const Error&) { ended.left_out.push_back(member); },
                      .archive_ended =
                          [&](std::size_t archive, const std::optional<Error>& error) {
                            ended.archives[archive] = error ? error->what() : "";
                          }},
                     batch);
      while (!batch.finished()) {
        const bool is_fed = job.feed();
        const std::chrono::milliseconds patience(is_fed ? 0 : 1000);
        if (std::optional<BatchResult> result = batch.next(patience)) job.take(*std::move(result));
      }
    }
    ended.fatal = batch.fatal();
    ended.peak_bytes = batch.peak_admitted_bytes();
    for (const ArchiveFiles& archive : files) ended.outputs.push_back(text_of(load_if_there(archive.output)));
    return ended;
  }

  static bool to_png(ArchiveImage& image) {
    const std::optional<Format> format = format_by_ending(image.name);
    if (!format || !format_info(*format).readable) return false;
    image.output_name = image.name + ".png";
    image.format = Format::png;
    return true;
  }

  static std::vector<std::byte> load_if_there(const std::string& path) {
    return file_size_bytes(path) > 0 ? load(path) : std::vector<std::byte>();
  }

  // The members of the output, in order.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> expected_members() const {
    std::vector<std::pair<std::string, std::string>> members;
    for (const TarMember& member : members_) {
      const auto image = expected_.find(member.name);
      if (member.name == "cut.png") continue;
      if (image == expected_.end()) members.emplace_back(member.name, member.data);
      if (image != expected_.end()) members.emplace_back(member.name + ".png", text_of(image->second));
    }
    return members;
  }

  static std::vector<std::pair<std::string, std::string>> members_of(const std::string& archive) {
    ArchiveReader reader([&, given = std::size_t{0}](std::span<std::byte> buffer) mutable {
      const std::size_t count = std::min(buffer.size(), archive.size() - given);
      std::ranges::copy(std::as_bytes(std::span(archive)).subspan(given, count), buffer.begin());
      given += count;
      return count;
    });
    std::vector<std::pair<std::string, std::string>> members;
    while (const std::optional<ArchiveMember> member = reader.next())
      members.emplace_back(member->name, text_of(reader.read_all(1 << 30)));
    return members;
  }

  std::vector<TarMember> members_;
  std::string output_;  // a prefix of the outputs' names
};

TEST_F(ArchiveJobTest, BytesDoNotDependOnJobsDevicesAndMemory) {
  const std::string archive = tar_file(members_);
  const Ended reference = run_archives({archive, archive}, settings(1));
  EXPECT_EQ(members_of(reference.outputs[0]), expected_members());
  EXPECT_EQ(reference.outputs[0], reference.outputs[1]);
  EXPECT_EQ(reference.done.size(), 2 * names_.size());
  EXPECT_EQ(reference.failed, (Names{"cut.png", "cut.png"}));
  EXPECT_EQ(reference.archives, (Names{"", ""}));
  const auto expect_equal = [&](BatchSettings with, std::int64_t waiting_bytes, const std::string& what) {
    const Ended ended = run_archives({archive, archive}, std::move(with), waiting_bytes);
    EXPECT_TRUE(ended.outputs == reference.outputs) << what;
    EXPECT_EQ(ended.failed, reference.failed) << what;
    EXPECT_FALSE(ended.fatal) << what;
  };
  for (const int jobs : {2, 4}) {
    for (const std::int64_t waiting_bytes : {1, 10'000, 1 << 20})
      expect_equal(settings(jobs, jobs), waiting_bytes,
                   std::to_string(jobs) + " jobs, " + std::to_string(waiting_bytes) + " bytes");
  }
  for (const bool is_limit : {false, true}) {
    BatchSettings with = settings(3);
    with.memory_bytes = is_limit ? 1'500'000 : 1;
    with.memory_is_limit = is_limit;
    expect_equal(std::move(with), 10'000, "little memory");
  }
  for (const LaneFaults& fault : {LaneFaults{}, LaneFaults{.group = 3, .codecs = true},
                                  LaneFaults{.breaks_in_launch = 3}, LaneFaults{.breaks_in_finish = 2},
                                  LaneFaults{.no_memory_in_launch = 2}, LaneFaults{.room_bytes = 20'000}}) {
    BatchSettings with = settings(3);
    with.find_lanes = offering(lanes({fault, {}}));
    expect_equal(std::move(with), 1 << 20, "lanes");
  }
}

TEST_F(ArchiveJobTest, DamagedArchivesHaveNoOutputAndOthersGoOn) {
  const std::string whole = tar_file(members_);
  const std::string cut = whole.substr(0, 512 + tar_data(members_[0].data).size() + 700);
  const Ended ended = run_archives({whole, cut, "no archive", whole}, settings(2));
  EXPECT_EQ(ended.archives[0], "");
  EXPECT_EQ(ended.archives[3], "");
  EXPECT_EQ(ended.archives[1].find("b: damaged archive: "), 0U) << ended.archives[1];
  EXPECT_NE(ended.archives[1].find("; out b was not written"), std::string::npos) << ended.archives[1];
  EXPECT_EQ(ended.archives[2].find("c: not a tar archive"), 0U) << ended.archives[2];
  EXPECT_EQ(ended.done.size(), 2 * names_.size() + 1) << "the image before the damage is processed";
  EXPECT_EQ(out_.names(), (Names{"a.tar", "d.tar"}));
}

TEST_F(ArchiveJobTest, OutputsThatCannotBeWrittenEndTheBatch) {
  save(out_.file("file"), std::vector<std::byte>(1));
  output_ = "file/";
  const Ended ended = run_archives({tar_file(members_), tar_file(members_)}, settings(2));
  ASSERT_TRUE(ended.fatal);
  EXPECT_EQ(ended.fatal->kind(), ErrorKind::output);
  EXPECT_EQ(ended.archives[1], "not ended");
  EXPECT_EQ(out_.names(), Names{"file"});
}

TEST_F(ArchiveJobTest, HardLinksFollowTheNamesOfImages) {
  const std::string image = members_.front().data;
  const Ended ended = run_archives({tar_file({{.name = "i.png", .data = image},
                                              {.name = "cut.png", .data = image.substr(0, 60)},
                                              {.name = "link.png", .type = '1', .link = "i.png"},
                                              {.name = "label", .type = '1', .link = "x.cls"},
                                              {.name = "lost", .type = '1', .link = "cut.png"},
                                              {.name = "i.png.png", .data = image}})},
                                   settings(1));
  EXPECT_EQ(ended.failed, Names{"cut.png"});
  EXPECT_EQ(ended.left_out, Names{"lost"});
  Names names;
  for (const auto& [name, data] : members_of(ended.outputs[0])) names.push_back(name);
  EXPECT_EQ(names, (Names{"i.png.png", "link.png.png", "label", "i.png.png.png"}));
}

TEST_F(ArchiveJobTest, MembersWhoseNewNameIsTakenFail) {
  const std::string image = members_.front().data;
  const Ended ended = run_archives({tar_file({{.name = "a.png.png.png"},
                                              {.name = "i.bmp", .data = image},
                                              {.name = "i.bmp.png", .data = image},
                                              {.name = "i.bmp", .data = image}})},
                                   settings(1));
  // i.bmp becomes i.bmp.png, and i.bmp.png becomes i.bmp.png.png.
  EXPECT_EQ(ended.done, (Names{"i.bmp", "i.bmp.png"}));
  const std::set<std::string> failed(ended.failed.begin(), ended.failed.end());  // in any order
  EXPECT_EQ(failed, (std::set<std::string>{"a.png.png.png", "i.bmp"}));
}

TEST_F(ArchiveJobTest, OwnersThatTarCannotStoreFailAlone) {
  const std::string negative(8, '\xff'), image = members_.front().data;
  const Ended ended = run_archives({tar_file({{.name = "i.png", .data = image, .owner_field = negative},
                                              {.name = "l.cls", .owner_field = negative},
                                              {.name = "j.png", .data = image}})},
                                   settings(1));
  EXPECT_EQ(ended.failed, Names{"i.png"});
  EXPECT_EQ(ended.left_out, Names{"l.cls"});
  EXPECT_EQ(ended.done, Names{"j.png"});
  EXPECT_EQ(ended.archives, Names{""});
}

TEST_F(ArchiveJobTest, SparseMembersMayNotClaimMoreThanAGibibyte) {
  const std::string map = "1\n0\n5\n";
  const auto sparse = [&](const std::string& bytes) {
    std::string records = "22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n";
    std::string record = " GNU.sparse.realsize=" + bytes + "\n";
    record = std::to_string(record.size() + 2) + record;
    return std::vector<TarMember>{{.name = "pax", .data = records + record, .type = 'x'},
                                  {.name = "s.bin", .data = tar_data(map) + "hello"}};
  };
  for (const auto& [bytes, is_copied] : {std::pair{"1000000", true}, {"99999999999", false}}) {
    std::vector<TarMember> members = sparse(bytes);
    members.push_back({.name = "after", .data = "1"});
    const Ended ended = run_archives({tar_file(members)}, settings(1));
    EXPECT_EQ(ended.archives, Names{""});
    EXPECT_EQ(ended.left_out, is_copied ? Names{} : Names{"s.bin"});
    const auto copied = members_of(ended.outputs[0]);
    ASSERT_EQ(copied.size(), is_copied ? 2U : 1U);
    EXPECT_EQ(copied.back().first, "after");
    if (is_copied) {
      EXPECT_EQ(copied.front().second, "hello" + std::string(1'000'000 - 5, '\0'));
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::archive_job_test
