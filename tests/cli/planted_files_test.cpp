// World-writable sticky directories, where other users can create files but not remove ours.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/batch_cli.h"

namespace imgpipe::test::planted_files_test {
namespace {

constexpr const char* kRecords = ".imgpipe-update.ndjson";

class PlantedFiles : public BatchCli {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "giving a file to another user needs root";
    write_images();
    fs::create_directories(file("victim"));
    fs::create_directories(out());
    ASSERT_EQ(::chmod(out().c_str(), 01777), 0);
  }
  // Gives a file or link in OUTPUT to another user.
  void give_away(const std::string& name) const {
    constexpr uid_t kOther = 65534;
    ASSERT_EQ(::lchown(file("out/" + name).c_str(), kOther, static_cast<gid_t>(-1)), 0);
  }
  void plant_link(const std::string& name) const {
    fs::create_symlink(file("victim/" + name), file("out/" + name));
    give_away(name);
  }
  [[nodiscard]] RunResult run(std::vector<std::string> options) const {
    options.insert(options.begin(), {in(), out(), "-q"});
    return run_imgpipe(options);
  }
};

TEST_F(PlantedFiles, ResultsDoNotFollowTheLinks) {
  const std::vector<std::vector<std::string>> results{
      {"a.png"},
      {"r.ndjson", "--report", file("out/r.ndjson")},
      {"r.csv", "--report", file("out/r.csv")},
      {"r.json", "--report", file("out/r.json")},
      {"t.json", "--trace", file("out/t.json")},
      {"failed.txt", "--failed-out", file("out/failed.txt")},
      {"p.toml", "--write-preset", file("out/p.toml")},
      {kRecords, "--update"},
  };
  for (const std::vector<std::string>& result : results) {
    SCOPED_TRACE(result.front());
    plant_link(result.front());
    const RunResult planted = run({result.begin() + 1, result.end()});
    EXPECT_EQ(planted.exit_code, 4);
    EXPECT_NE(planted.err.find("belongs to another user"), std::string::npos) << planted.err;
    EXPECT_TRUE(fs::is_empty(file("victim")));
    fs::remove(file("out/" + result.front()));
  }
}

// A record of --update allows it to replace a file that has no mark of imgpipe.
TEST_F(PlantedFiles, RecordsOfAnotherUserAreRefused) {
  ASSERT_EQ(run({"--update"}).exit_code, 0);
  save_text(file("out/a.png"), "another program's image");
  give_away(kRecords);
  const RunResult refused = run({"--update"});
  EXPECT_EQ(refused.exit_code, 4);
  EXPECT_EQ(refused.err,
            "imgpipe: " + file("out/") + kRecords +
                ": belongs to another user and is in a world-writable sticky directory; remove it "
                "or name another OUTPUT\n");
  EXPECT_EQ(load_text(file("out/a.png")), "another program's image");
  // Others cannot create files here.
  ASSERT_EQ(::chmod(out().c_str(), 0755), 0);
  EXPECT_EQ(run({"--update"}).exit_code, 0);
  EXPECT_NE(load_text(file("out/a.png")), "another program's image");
}

}  // namespace
}  // namespace imgpipe::test::planted_files_test
