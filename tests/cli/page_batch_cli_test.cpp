// Batches of stacks: imgpipe FOLDER out/ --pages ...
#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/batch_cli.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/tiff_file.h"

namespace imgpipe::test::page_batch_cli_test {
namespace {

using Json = nlohmann::json;

class PageBatchCli : public BatchCli {
 protected:
  void SetUp() override {
    fs::create_directories(file("in/sub"));
    save_stack("in/a.tif", 3);
    save_stack("in/sub/b.tiff", 2);
    write("in/c.png", 3);
  }
  static TiffPageOf page(int number) {
    const TiffKind kind{.width = 12, .height = 9, .compression = 8};
    Values values(108);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 10 * number + static_cast<int>(i % 100);
    return {kind, values};
  }
  void save_stack(const std::string& name, int pages) const {
    std::vector<TiffPageOf> all;
    for (int i = 0; i < pages; ++i) all.push_back(page(i));
    save(file(name), make_tiff_stack(all));
  }
  [[nodiscard]] RunResult run(std::vector<std::string> more) const {
    std::vector<std::string> arguments{in(), out(), "--recursive", "-q", "--stages", "invert"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_imgpipe(arguments);
  }
  static Values inverted(int number) {
    Values values = page(number).samples;
    for (int& value : values) value = 255 - value;
    return values;
  }
};

TEST_F(PageBatchCli, StacksBecomeStacks) {
  for (const char* device : {"cpu", "reference", "auto"}) {
    fs::remove_all(out());
    const RunResult result = run({"--pages", "all", "--format", "tiff", "--device", device});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(written(), (Names{"a.tif", "c.tif", "sub/b.tiff"}));
    EXPECT_EQ(pages_by_libtiff(load(file("out/a.tif"))), 3);
    EXPECT_EQ(pages_by_libtiff(load(file("out/c.tif"))), 1);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(samples_by_libtiff(load(file("out/sub/b.tiff")), i), inverted(i));
  }
}

TEST_F(PageBatchCli, OnCudaTheStacksAreTheSame) {
  IMGPIPE_NEED_CUDA();
  for (const char* device : {"cpu", "cuda"}) {
    const RunResult result = run({"--pages", "all", "--format", "tiff", "--device", device, "--overwrite"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    fs::rename(out(), file(device));
  }
  EXPECT_EQ(contents(file("cuda")), contents(file("cpu")));
}

TEST_F(PageBatchCli, OtherFormatsGetNumberedFilesAndGoOnWhereOneIsMissing) {
  const std::vector<std::string> arguments{"--pages",         "all",      "--format",      "png",
                                           "--skip-existing", "--report", file("r.ndjson")};
  const RunResult first = run(arguments);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const Names all{"a_0001.png", "a_0002.png", "a_0003.png", "c_0001.png", "sub/b_0001.png", "sub/b_0002.png"};
  EXPECT_EQ(written(), all);
  EXPECT_EQ(samples(decode(load(file("out/a_0003.png")))), inverted(2));
  std::map<std::string, Json> lines_by_input;
  std::istringstream stream(load_text(file("r.ndjson")));
  for (std::string line; std::getline(stream, line);) {
    const Json json = Json::parse(line);
    lines_by_input[json["input"]] = json;
  }
  EXPECT_EQ(lines_by_input[file("in/a.tif")]["pages"], 3);
  EXPECT_EQ(lines_by_input[file("in/a.tif")]["status"], "done");
  // Half a set is no set.
  fs::remove(file("out/a_0002.png"));
  const auto before = fs::last_write_time(file("out/sub/b_0001.png"));
  ASSERT_EQ(run(arguments).exit_code, 0);
  EXPECT_EQ(written(), all);
  EXPECT_EQ(fs::last_write_time(file("out/sub/b_0001.png")), before);
  const RunResult third = run(arguments);
  EXPECT_EQ(third.exit_code, 0) << third.err;
}

TEST_F(PageBatchCli, ABadPageCostsItsStackOnly) {
  FileBytes bytes = load(file("in/a.tif"));
  const FileBytes second = make_tiff(page(1).kind, page(1).samples);
  const auto at = std::search(bytes.begin(), bytes.end(), second.begin() + 8, second.begin() + 30);
  ASSERT_NE(at, bytes.end());
  std::fill_n(at, 4, std::byte{0xFF});
  save(file("in/a.tif"), bytes);
  for (const auto& [format, left] :
       {std::pair{"png", Names{"c_0001.png", "sub/b_0001.png", "sub/b_0002.png"}},
        {"tiff", Names{"c.tif", "sub/b.tiff"}}}) {
    fs::remove_all(out());
    const RunResult result = run({"--pages", "all", "--format", format, "--failed-out", file("f.txt")});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_NE(result.err.find(file("in/a.tif") + ", page 2: "), std::string::npos) << result.err;
    EXPECT_EQ(written(), left);
    EXPECT_EQ(load_text(file("f.txt")), "a.tif\n");
  }
}

TEST_F(PageBatchCli, APageThatSomeInputsLack) {
  const RunResult result = run({"--pages", "2", "--format", "png"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("has only one page, and --pages asks for page 2"), std::string::npos)
      << result.err;
  EXPECT_EQ(written(), (Names{"a.png", "sub/b.png"}));
  EXPECT_EQ(samples(decode(load(file("out/sub/b.png")))), inverted(1));
}

TEST_F(PageBatchCli, EachStackIsASeriesOfItsOwn) {
  const RunResult result = run_imgpipe({in(), out(), "--recursive", "-q", "--pages", "1-2", "--format",
                                        "tiff", "--stages", "contrast:range=series", "--include", "*.tif*"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Values got = samples_by_libtiff(load(file("out/a.tif")), 1);
  const Values from = page(1).samples;
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(got[i], from[i] >= 109 ? 255 : (from[i] * 510 + 109) / 218) << from[i];
}

// Into the folder of the inputs: a page's name may be another input's.
TEST_F(PageBatchCli, NoPageIsWrittenOverAnInput) {
  fs::create_directories(file("d"));
  fs::copy_file(file("in/a.tif"), file("d/a.tif"));
  ASSERT_EQ(run_imgpipe({file("in/c.png"), file("d/a_0001.png"), "-q"}).exit_code, 0);
  const auto before = contents(file("d"));
  fs::create_directory_symlink(file("d"), file("linked"));
  for (const char* output : {"d", "linked"}) {
    const RunResult result =
        run_imgpipe({file("d"), file(output), "--pages", "all", "--format", "png", "-q", "--overwrite"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.err, "imgpipe: " + file("d/a_0001.png") + ": is an input, and a page of " +
                              file("d/a.tif") +
                              " could be written there; name another folder, or --exclude one of them\n");
    EXPECT_EQ(contents(file("d")), before);
  }
  // Of ten thousand pages the first has five digits.
  fs::rename(file("d/a_0001.png"), file("d/a_00001.png"));
  const RunResult five =
      run_imgpipe({file("d"), file("d"), "--pages", "all", "--format", "png", "-q", "--overwrite"});
  EXPECT_EQ(five.exit_code, 2) << five.err;
  fs::rename(file("d/a_00001.png"), file("d/a_0001.png"));
  // Neither is a page's name.
  fs::rename(file("d/a_0001.png"), file("d/a_001.png"));
  fs::copy_file(file("d/a_001.png"), file("d/b_0001.png"));
  const RunResult result = run_imgpipe({file("d"), file("d"), "--pages", "all", "--format", "png", "-q"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(PageBatchCli, WhatAKilledRunLeftIsRemoved) {
  fs::create_directories(out());
  for (const char* name :
       {".a_0002.png.imgpipe-abcdefgh", ".c_0001.png.imgpipe-abcdefgh", ".other.png.imgpipe-abcdefgh"})
    save_text(file(std::string("out/") + name), "half");
  ASSERT_EQ(run({"--pages", "all", "--format", "png"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(file("out/.a_0002.png.imgpipe-abcdefgh")));
  EXPECT_FALSE(fs::exists(file("out/.c_0001.png.imgpipe-abcdefgh")));
  EXPECT_TRUE(fs::exists(file("out/.other.png.imgpipe-abcdefgh")));
}

TEST_F(PageBatchCli, TellsThePatternOfNamesAndWhyTheCpu) {
  const RunResult plan = run_imgpipe({in(), out(), "--pages", "2-", "--format", "png", "--dry-run"});
  EXPECT_NE(plan.out.find(file("in/a.tif") + " -> " + file("out/a_0002.png") + " ...\n"), plan.out.npos)
      << plan.out;
  const RunResult result =
      run_imgpipe({in(), out(), "--pages", "all", "--format", "png", "--device", "auto"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("pages go through the cpu"), result.out.npos) << result.out;
}

}  // namespace
}  // namespace imgpipe::test::page_batch_cli_test
