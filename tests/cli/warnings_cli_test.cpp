// Warnings about a contrast range without extent: on stderr and in the JSON of an image, of pages and of
// batches.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "images/synth.h"
#include "tests/support/batch_cli.h"
#include "tests/support/tiff_file.h"

namespace imgpipe::test::warnings_cli_test {
namespace {

using Json = nlohmann::json;
using Strings = std::vector<std::string>;

constexpr const char* kFlat = "contrast has no range to stretch (lo 7, hi 7) and changes nothing";

class WarningsCli : public BatchCli {
 protected:
  void SetUp() override {
    fs::create_directories(in());
    synth("in/flat.png", "constant:7");
    synth("in/photo.png", "photo");
  }
  void synth(const std::string& name, const std::string& pattern) const {
    ASSERT_EQ(run_imgpipe({"synth", file(name), "--pattern", pattern, "--size", "40x30", "-q"}).exit_code, 0);
  }
  void save_stack(const std::string& name, const std::vector<int>& values) const {
    const TiffKind kind{.width = 8, .height = 4, .bits = 8, .samples = 1, .photometric = 1};
    std::vector<TiffPageOf> pages;
    for (const int value : values) pages.push_back({kind, Values(32, value)});
    save(file(name), make_tiff_stack(pages));
  }
  [[nodiscard]] static Json json_of(const std::string& path) { return Json::parse(load_text(path)); }
  // The warnings of a report of lines, by the input's name.
  [[nodiscard]] static std::map<std::string, Json> warnings_of_lines(const std::string& path) {
    std::map<std::string, Json> all;
    std::istringstream text(load_text(path));
    for (std::string line; std::getline(text, line);) {
      const Json json = Json::parse(line);
      all[fs::path(json["input"].get<std::string>()).filename().string()] = json["warnings"];
    }
    return all;
  }
};

TEST_F(WarningsCli, AnImagesJsonHasThem) {
  const std::string flat = file("in/flat.png");
  const RunResult run = run_imgpipe(
      {flat, file("o.png"), "--stages", "contrast", "--device", "cpu", "--report", file("r.json"), "-q"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "imgpipe: warning: " + flat + ": " + kFlat + "\n");
  EXPECT_EQ(json_of(file("r.json"))["warnings"], Json(Strings{flat + ": " + kFlat}));
  ASSERT_EQ(
      run_imgpipe({file("in/photo.png"), file("p.png"), "--device", "cpu", "--report", file("p.json"), "-q"})
          .exit_code,
      0);
  EXPECT_EQ(json_of(file("p.json"))["warnings"], Json::array());
}

TEST_F(WarningsCli, ABatchsLinesHaveThem) {
  const std::string flat = file("in/flat.png");
  for (const char* device : {"cpu", "reference"}) {
    const RunResult run = run_imgpipe({in(), out(), "--stages", "contrast", "--device", device, "--report",
                                       file("r.ndjson"), "--report", file("r.csv"), "-q"});
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_EQ(run.err, "imgpipe: warning: " + flat + ": " + kFlat + "\n");
    const auto warnings = warnings_of_lines(file("r.ndjson"));
    EXPECT_EQ(warnings.at("flat.png"), Json(Strings{flat + ": " + kFlat}));
    EXPECT_EQ(warnings.at("photo.png"), Json::array());
    EXPECT_NE(load_text(file("r.csv")).find(kFlat), std::string::npos);
  }
}

TEST_F(WarningsCli, PagesHaveThemOnce) {
  fs::create_directories(file("stacks"));
  save_stack("stacks/s.tif", {7, 7});
  const std::string stack = file("stacks/s.tif");
  const RunResult one = run_imgpipe(
      {stack, file("o.tif"), "--pages", "all", "--stages", "contrast", "--report", file("r.json"), "-q"});
  EXPECT_EQ(one.err, "imgpipe: warning: " + stack + ", page 1: " + kFlat + "\n");
  EXPECT_EQ(json_of(file("r.json"))["warnings"], Json(Strings{stack + ", page 1: " + kFlat}));
  const RunResult batch = run_imgpipe(
      {file("stacks"), out(), "--pages", "all", "--stages", "contrast", "--report", file("r.ndjson"), "-q"});
  EXPECT_EQ(batch.err, one.err);
  EXPECT_EQ(warnings_of_lines(file("r.ndjson")).at("s.tif"), Json(Strings{stack + ", page 1: " + kFlat}));
}

TEST_F(WarningsCli, EachPlaneIsNamed) {
  const RunResult run = run_imgpipe({file("in/flat.png"), file("o.png"), "--stages", "contrast:stretch=each",
                                     "--device", "cpu", "--report", file("r.json"), "-q"});
  EXPECT_EQ(lines(run.err), 3U) << run.err;
  EXPECT_NE(run.err.find("contrast:stretch=each, plane 2, has no range"), std::string::npos) << run.err;
  EXPECT_EQ(json_of(file("r.json"))["warnings"].size(), 3U);
}

}  // namespace
}  // namespace imgpipe::test::warnings_cli_test
