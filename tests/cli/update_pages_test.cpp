// --update with one file per page: for one input and for a directory.
#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/batch_cli.h"
#include "tests/support/tiff_file.h"

namespace imgpipe::test::update_pages_test {
namespace {

const std::string kStamps = ".imgpipe-update.ndjson";

class UpdatePages : public BatchCli {
 protected:
  // Saves in/a.tif with a modification time that depends on `pages`.
  void save_stack(int pages) const {
    const TiffKind kind{.width = 12, .height = 9, .compression = 8};
    std::vector<TiffPageSource> all;
    for (int page = 0; page < pages; ++page) all.push_back({kind, Values(108, 10 * page)});
    save(file("in/a.tif"), make_tiff_stack(all));
    fs::last_write_time(file("in/a.tif"), fs::file_time_type::clock::now() - std::chrono::hours(24) +
                                              std::chrono::seconds(pages));
  }
};

TEST_F(UpdatePages, Batch) {
  fs::remove_all(in());
  fs::create_directories(in());
  save_stack(3);
  const Names arguments{in(), out(), "--update", "--pages", "all", "--format", "png", "--stages", "invert"};
  const auto expect_done = [&](bool done) {
    const RunResult result = run_imgpipe(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out.substr(0, result.out.find(", in ")),
              done ? "1 image: 1 done, 0 up to date, 0 failed" : "1 image: 0 done, 1 up to date, 0 failed");
  };
  expect_done(true);
  EXPECT_EQ(written(), (Names{kStamps, "a_0001.png", "a_0002.png", "a_0003.png"}));
  EXPECT_EQ(lines(load_text(file("out/" + kStamps))), 3U);
  expect_done(false);
  fs::remove(file("out/a_0002.png"));
  expect_done(true);
  save_text(file("out/a_0003.png"), "edited");
  expect_done(true);
  expect_done(false);
  save_stack(4);
  expect_done(true);
  EXPECT_TRUE(fs::exists(file("out/a_0004.png")));
  expect_done(false);
}

TEST_F(UpdatePages, OneInput) {
  save_stack(2);
  const Names arguments{file("in/a.tif"), file("p.png"), "--pages", "all", "--update", "--stages", "invert"};
  EXPECT_EQ(run_imgpipe(arguments).exit_code, 0);
  EXPECT_TRUE(fs::exists(file("p_0002.png")));
  EXPECT_NE(run_imgpipe(arguments).out.find(": up to date"), std::string::npos);
  save_text(file("p_0002.png"), "edited");
  const RunResult again = run_imgpipe(arguments);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(run_imgpipe(arguments).out.find(": up to date"), std::string::npos);
}

// A template of page names is not a path: {page} may be a directory, and literal braces are doubled.
TEST_F(UpdatePages, NumberedNames) {
  save_stack(2);
  for (const char* directory : {"plain", "{braces}"}) {
    const Names arguments{file("in/a.tif"), file(directory), "--name", "{page}/{stem}.png", "--pages", "all",
                          "--update",       "--stages",      "invert"};
    const RunResult first = run_imgpipe(arguments);
    EXPECT_EQ(first.exit_code, 0) << first.err;
    EXPECT_EQ(files_below(file(directory)).size(), 3U);
    EXPECT_EQ(lines(load_text((fs::path(file(directory)) / kStamps).string())), 2U);
    EXPECT_NE(run_imgpipe(arguments).out.find(": up to date"), std::string::npos);
  }
}

TEST_F(UpdatePages, EditedPageDoesNotAllowReplacingForeignFiles) {
  const Names arguments{file("in/a.tif"), file("p.png"), "--pages", "all", "--update", "--stages", "invert"};
  save_stack(1);
  ASSERT_EQ(run_imgpipe(arguments).exit_code, 0);
  save_text(file("p_0001.png"), "edited");
  save_text(file("p_0002.png"), "another program's image");
  save_stack(2);
  expect_refused(run_imgpipe(arguments), "was not written by imgpipe; use --overwrite to replace it");
  EXPECT_EQ(load_text(file("p_0002.png")), "another program's image");
}

TEST_F(UpdatePages, EditedPageDoesNotAllowFollowingALink) {
  const Names arguments{file("in/a.tif"), file("p.png"), "--pages", "all", "--update", "--stages", "invert"};
  save_stack(2);
  ASSERT_EQ(run_imgpipe(arguments).exit_code, 0);
  save_text(file("p_0002.png"), "edited");
  save_text(file("precious"), "another program's image");
  fs::remove(file("p_0001.png"));
  fs::create_symlink(file("precious"), file("p_0001.png"));
  expect_refused(run_imgpipe(arguments), "use --overwrite to replace it");
  EXPECT_EQ(load_text(file("precious")), "another program's image");
}

}  // namespace
}  // namespace imgpipe::test::update_pages_test
