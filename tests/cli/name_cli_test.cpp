// --name through the program: one image, batches, lists, shards, resuming, pages, reports; what is refused.
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/batch_cli.h"
#include "tests/support/tiff_file.h"

namespace imgpipe::test::name_cli_test {
namespace {

using Json = nlohmann::json;

class NameCli : public BatchCli {
 protected:
  [[nodiscard]] RunResult run(std::vector<std::string> arguments, const RunOptions& options = {}) const {
    arguments.emplace_back("-q");
    return run_imgpipe(arguments, options);
  }
  // Of the folder, by that name.
  [[nodiscard]] Names named(const std::string& name, const std::vector<std::string>& more = {}) const {
    fs::remove_all(out());
    std::vector<std::string> arguments{in(), out(), "--name", name};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const RunResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return written();
  }
  [[nodiscard]] std::vector<Json> report() const {
    std::vector<Json> lines;
    const std::string text = load_text(file("r.ndjson"));
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
      lines.push_back(Json::parse(text.substr(at, text.find('\n', at) - at)));
    return lines;
  }
  void save_stack(const std::string& name, int pages) const {
    const TiffKind kind{.width = 9, .height = 5};
    std::vector<TiffPageOf> all;
    for (int i = 0; i < pages; ++i) all.push_back({kind, Values(45, 10 * i)});
    save(file(name), make_tiff_stack(all));
  }
};

TEST_F(NameCli, NamesOfAFolder) {
  EXPECT_EQ(named("{stem}_gray.{ext}"), (Names{"a_gray.png", "b_gray.jpg", "c.GIF_gray.ppm"}));
  EXPECT_EQ(named("{dir}/{stem}_gray.png", {"--recursive"}),
            (Names{"a_gray.png", "b_gray.png", "c.GIF_gray.png", "sub/d_gray.png", "sub/deep/e_gray.png"}));
  EXPECT_EQ(named("{parent}/{stem}.{ext}", {"--recursive", "--format", "png"}),
            (Names{"deep/e.png", "in/a.png", "in/b.png", "in/c.GIF.png", "sub/d.png"}));
  EXPECT_EQ(named("x/{n:03}_{input_ext}.{ext}", {"--recursive", "--format", "tiff"}),
            (Names{"x/001_png.tif", "x/002_jpg.tif", "x/003_ppm.tif", "x/004_png.tif", "x/005_bmp.tif"}));
}

// As without it, but for the name.
TEST_F(NameCli, TheFilesAreThoseOfTheUsualNames) {
  ASSERT_EQ(run({in(), file("usual"), "--recursive"}).exit_code, 0);
  (void)named("{dir}/{stem}.{ext}", {"--recursive"});
  EXPECT_EQ(contents(out()), contents(file("usual")));
}

TEST_F(NameCli, OneImageGoesIntoAFolderThatIsMade) {
  RunResult result = run({file("in/b.jpg"), file("new/er"), "--name", "x/{stem}_{n}_{parent}.png"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(fs::exists(file("new/er/x/b_1_in.png")));
  result = run({file("in/b.jpg"), file("new/er"), "--name", "x/{stem}.{ext}", "--report", file("r.json")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Json::parse(load_text(file("r.json")))["output"]["path"], file("new/er/x/b.jpg"));
  RunOptions here;
  here.folder = folder_.path().string();
  ASSERT_EQ(run({"in/sub/d.png", "new", "--name", "{dir}/{stem}.bmp"}, here).exit_code, 0);
  EXPECT_TRUE(fs::exists(file("new/in/sub/d.bmp")));
  expect_refused(run({file("in/b.jpg"), file("in/a.png"), "--name", "x.png"}), "not a directory");
  expect_refused(run({file("in/b.jpg"), "-", "--name", "x.png"}), "OUTPUT is stdout");
  // A folder that is its output's, or an input.
  fs::create_directories(file("new/dir.png"));
  EXPECT_NE(run({file("in/b.jpg"), file("new"), "--name", "dir.png"}).exit_code, 0);
  expect_refused(run({file("in/a.png"), in(), "--name", "{stem}.png", "--overwrite"}), "is the input itself");
}

TEST_F(NameCli, SeveralInputsAndPatterns) {
  RunOptions here;
  here.folder = folder_.path().string();
  ASSERT_EQ(run({"in/a.png", "in/sub", "out", "--name", "{dir}-{stem}.png"}, here).exit_code, 0);
  EXPECT_EQ(written(), (Names{"in/sub-d.png", "in-a.png"}));
  fs::remove_all(out());
  ASSERT_EQ(run({"in/**/*.png", "out", "--name", "{n}.png"}, here).exit_code, 0);
  EXPECT_EQ(written(), (Names{"1.png", "2.png"}));
}

TEST_F(NameCli, ListsHaveTheirOwnNumbersAndFolders) {
  save_text(file("list"), "sub/d.png\na.png\nsub/deep/e.bmp\n");
  EXPECT_EQ(named("{dir}/{n}_{stem}.png", {"--files-from", file("list")}),
            (Names{"1_a.png", "sub/2_d.png", "sub/deep/3_e.png"}));
  save_text(file("list"), "../in/a.png\n");
  expect_refused(run({in(), out(), "--files-from", file("list"), "--name", "{dir}/{stem}.png"}), "leads out");
  EXPECT_EQ(named("{stem}.png", {"--files-from", file("list")}), Names{"a.png"});
}

TEST_F(NameCli, NumbersAreTheSameForEverySharding) {
  const Names all = named("{n:02}.png", {"--recursive"});
  const auto whole = contents(out());
  for (const int shards : {2, 3, 7}) {
    for (const char* balance : {"hash", "count", "bytes"}) {
      fs::remove_all(out());
      for (int i = 1; i <= shards; ++i) {
        const RunResult result = run({in(), out(), "--name", "{n:02}.png", "--recursive", "--balance",
                                      balance, "--shard", std::to_string(i) + "/" + std::to_string(shards)});
        ASSERT_EQ(result.exit_code, 0) << result.err;
      }
      EXPECT_EQ(contents(out()), whole) << shards << ", " << balance;
    }
  }
}

TEST_F(NameCli, ResumesByTheNamesThatAreThere) {
  (void)named("{dir}/{n}_{stem}.png", {"--recursive"});
  const auto whole = contents(out());
  fs::remove(fs::path(out()) / "sub/4_d.png");
  const RunResult result = run({in(), out(), "--name", "{dir}/{n}_{stem}.png", "--recursive",
                                "--skip-existing", "--report", file("r.ndjson")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(contents(out()), whole);
  std::size_t skipped = 0;
  for (const Json& line : report()) {
    skipped += line["status"] == "skipped" ? 1 : 0;
    if (line["status"] != "done") continue;
    EXPECT_EQ(line["output"], out() + "/sub/4_d.png");
  }
  EXPECT_EQ(skipped, 4U);
}

TEST_F(NameCli, DryRunNamesEveryOutput) {
  const RunResult result = run_imgpipe({in(), out(), "--name", "{n}/{stem}.png", "--dry-run"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.out.find(file("in/b.jpg") + " -> " + out() + "/2/b.png\n"), std::string::npos)
      << result.out;
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(NameCli, OneOutputForTwoInputsIsRefusedBeforeAnyWork) {
  write("in/b.png", 9);
  expect_refused(run({in(), out(), "--name", "{stem}.png"}), "would both be written there (see --name");
  expect_refused(run({in(), out(), "--name", "x.png"}), "would both be written there");
  expect_refused(run({in(), out(), "--name", "{parent}.png", "--recursive"}), "would both be written there");
  EXPECT_FALSE(fs::exists(out()));
  (void)named("{stem}_{input_ext}.png");
}

TEST_F(NameCli, WhatIsWrongIsSaidBeforeAnyWork) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--name", "{stm}.png"}, "did you mean stem?"},
      {{"--name", "{stem:3}.png"}, "a width is 0"},
      {{"--name", "../{stem}.png"}, "leads out of OUTPUT"},
      {{"--name", "/{stem}.png"}, "absolute"},
      {{"--name", ""}, "is no name of a file"},
      {{"--name", "{stem}"}, "no ending that names an image format"},
      {{"--name", "{stem}.png", "--format", "jpeg"}, "ends as png does, and --format says jpeg"},
      {{"--name", "{stem}.psd"}, "cannot write psd"},
      {{"--name", "{stem}_{page}.png"}, "add --pages all"},
      {{"--name", "{n}.png", "--failed-out", "f.txt"}, "{n} would count"},
  };
  for (const auto& [more, words] : cases) {
    std::vector<std::string> arguments{in(), out()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    expect_refused(run(arguments), words);
  }
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(NameCli, PagesOfStacks) {
  save_stack("a1.tif", 3);
  save_stack("a2.tif", 2);
  const RunResult result = run({file("a1.tif"), file("a2.tif"), out(), "--pages", "all", "--stages", "invert",
                                "--name", "{stem}/p{page:03}.png", "--report", file("r.ndjson")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(written(), (Names{"a1/p001.png", "a1/p002.png", "a1/p003.png", "a2/p001.png", "a2/p002.png"}));
  // Lines stand in the order in which images were done.
  std::map<std::string, int> pages;
  for (const Json& line : report()) pages[line["output"]] = line["pages"];
  EXPECT_EQ(pages, (std::map<std::string, int>{{out() + "/a1/p{page:03}.png", 3},
                                               {out() + "/a2/p{page:03}.png", 2}}));
  fs::remove(fs::path(out()) / "a1/p002.png");
  const RunResult again = run_imgpipe({file("a1.tif"), file("a2.tif"), out(), "--pages", "all", "--stages",
                                       "invert", "--name", "{stem}/p{page:03}.png", "--skip-existing"});
  EXPECT_NE(again.out.find("2 images: 1 done, 1 skipped"), std::string::npos) << again.out;
  EXPECT_EQ(written().size(), 5U);
}

// A TIFF gets all pages unless {page} says otherwise; without {page} numbers come where they always do.
TEST_F(NameCli, PagesOfOneInput) {
  save_stack("a.tif", 3);
  const auto pages = [&](const std::string& name, const std::string& which = "all") {
    fs::remove_all(out());
    const RunResult result =
        run({file("a.tif"), out(), "--pages", which, "--stages", "invert", "--name", name});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return written();
  };
  EXPECT_EQ(pages("{stem}.tif"), Names{"a.tif"});
  EXPECT_EQ(pages("{page}/{stem}.tif"), (Names{"1/a.tif", "2/a.tif", "3/a.tif"}));
  EXPECT_EQ(pages("{stem}_x.png", "2-"), (Names{"a_x_0002.png", "a_x_0003.png"}));
  EXPECT_EQ(pages("{stem}_{page}.png", "2"), Names{"a_2.png"});
  const RunResult dry = run_imgpipe({file("a.tif"), file("in/b.jpg"), out(), "--pages", "all", "--name",
                                     "{stem}_{page:02}.png", "--dry-run"});
  EXPECT_NE(dry.out.find(file("a.tif") + " -> " + out() + "/a_{page:02}.png\n"), std::string::npos)
      << dry.out;
}

TEST_F(NameCli, PagesOfTwoInputsDoNotMeet) {
  fs::remove_all(in());
  fs::create_directories(in());
  save_stack("in/a1.tif", 12);
  save_stack("in/a11.tif", 2);
  const auto refused = [&](const std::string& name, const std::string& words) {
    expect_refused(run({in(), out(), "--pages", "all", "--name", name}), words);
  };
  refused("{stem}{page}.png", "could both be written there");
  refused("{page}.png", "would both be written there");
  refused("x_{page}_{n}{page}.png", "could both be written there");
  EXPECT_EQ(named("{stem}_{page}.png", {"--pages", "1-2"}),
            (Names{"a11_1.png", "a11_2.png", "a1_1.png", "a1_2.png"}));
  EXPECT_EQ(named("{page}/{stem}.png", {"--pages", "1-2"}),
            (Names{"1/a1.png", "1/a11.png", "2/a1.png", "2/a11.png"}));
  // Pages that are inputs.
  write("in/a1_07.png", 3);
  expect_refused(run({in(), in(), "--pages", "all", "--name", "{stem}_{page:02}.png"}),
                 "is an input, and a page of " + file("in/a1.tif") + " could be written there");
  const RunResult other =
      run({in(), in(), "--include", "*.tif", "--pages", "1-2", "--name", "{stem}_{page:03}.png"});
  EXPECT_EQ(other.exit_code, 0) << other.err;
}

// None of them counts as lost, either.
TEST_F(NameCli, ReportsNameTheOutputsThatAreThere) {
  const RunResult result = run({in(), out(), "--name", "{n}.png", "--report", file("r.ndjson")});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const Json& line : report()) EXPECT_TRUE(fs::exists(line["output"].get<std::string>()));
}

// Runs of one digest write the same bytes.
TEST_F(NameCli, AnEndingSaysTheFormatOfTheWholeBatch) {
  const auto totals = [&](const Names& more) {
    Names arguments{in(), out(), "--report", file("r.json"), "--overwrite"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const RunResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return Json::parse(load_text(file("r.json")));
  };
  const Json by_name = totals({"--name", "{n}.jpg"}),
             by_format = totals({"--name", "{n}", "--format", "jpeg"}), own = totals({"--name", "{n}.{ext}"});
  EXPECT_EQ(by_name["options_digest"], by_format["options_digest"]);
  EXPECT_NE(by_name["options_digest"], own["options_digest"]);
  EXPECT_EQ(by_name["options"]["format"], "jpeg");
  EXPECT_EQ(own["options"]["format"], nullptr);
}

}  // namespace
}  // namespace imgpipe::test::name_cli_test
