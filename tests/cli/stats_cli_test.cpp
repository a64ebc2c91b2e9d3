// imgpipe stats as a user runs it: which images it counts, what it says and writes, and what stops it.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "images/image.h"
#include "tests/support/samples_cli.h"

namespace imgpipe::test::stats_cli_test {
namespace {

using Json = nlohmann::json;

class StatsCli : public SamplesCli {
 protected:
  // Two greys and two colours, one of each with alpha.
  void write_four() const {
    write_samples("in/a.png", {2, 2, 1}, {0, 10, 20, 30});
    write_samples("in/b.png", {2, 1, 2}, {200, 255, 100, 0});
    write_samples("in/c.png", {2, 1, 3}, {1, 2, 3, 5, 6, 7});
    write_samples("in/d.png", {1, 1, 4}, {9, 10, 11, 128});
  }

  [[nodiscard]] RunResult stats(std::vector<std::string> arguments, const RunOptions& options = {}) const {
    arguments.insert(arguments.begin(), "stats");
    return run_imgpipe(arguments, options);
  }

  [[nodiscard]] Json json_of(const RunResult& run) const {
    Json json = Json::parse(run.out, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << run.out << run.err;
    return json;
  }
};

// By its fields, where none is quoted.
std::vector<std::vector<std::string>> csv_rows(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields{""};
    for (const char c : line) {
      if (c == ',') {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    }
    rows.push_back(fields);
  }
  return rows;
}

TEST_F(StatsCli, CountsGreyColourAndAlphaApart) {
  write_four();
  const RunResult run = stats({in(), "--json", "-", "--percentiles", "50,0,100"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("grey: 2 images, 6 pixels, 1 with alpha; samples 0 to 255"), std::string::npos);
  const Json json = json_of(run);
  EXPECT_EQ(json["images"], 4);
  EXPECT_EQ(json["counted"], 4);
  EXPECT_EQ(json["failed"], 0);
  ASSERT_EQ(json["groups"].size(), 2U);
  const Json& grey = json["groups"][0];
  EXPECT_EQ(grey["group"], "grey");
  EXPECT_EQ(grey["images_with_alpha"], 1);
  EXPECT_EQ(grey["maximum"], 255);
  EXPECT_EQ(grey["channels"]["grey"]["samples"], 6);
  EXPECT_EQ(grey["channels"]["grey"]["mean"], 60.0);
  EXPECT_EQ(grey["channels"]["grey"]["min"], 0);
  EXPECT_EQ(grey["channels"]["grey"]["max"], 200);
  EXPECT_EQ(grey["channels"]["grey"]["percentiles"], Json::parse(R"({"0": 0, "50": 20, "100": 200})"));
  EXPECT_EQ(grey["channels"]["grey"]["unit"]["max"], 200 / 255.0);
  EXPECT_EQ(grey["channels"]["alpha"]["mean"], 127.5);
  EXPECT_EQ(grey["channels"]["alpha"]["deviation"], 127.5);
  EXPECT_EQ(grey["mean"], Json::array({360 / (6 * 255.0)}));
  const Json& rgb = json["groups"][1];
  EXPECT_EQ(rgb["pixels"], 3);
  EXPECT_EQ(rgb["channels"]["red"]["mean"], 5.0);
  EXPECT_EQ(rgb["channels"]["blue"]["mean"], 7.0);
  EXPECT_EQ(rgb["channels"]["alpha"]["samples"], 1);
  EXPECT_EQ(rgb["channels"]["alpha"]["deviation"], 0.0);
  ASSERT_EQ(rgb["mean"].size(), 3U);
  EXPECT_EQ(rgb["std"][0], rgb["channels"]["red"]["unit"]["deviation"]);
  const Json& counts = json["histograms"][1]["counts"]["green"];
  ASSERT_EQ(counts.size(), 256U);
  EXPECT_EQ(counts[2], 1);
  EXPECT_EQ(counts[6], 1);
  EXPECT_EQ(counts[10], 1);
  EXPECT_EQ(counts[3], 0);
}

TEST_F(StatsCli, TheTableIsForPeople) {
  write_samples("in/a.png", {1000, 2, 1}, std::vector<int>(2000, 51));
  const RunResult run = stats({file("in/a.png"), "--percentiles", "50"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.out,
            "1 image: 1 counted, 0 failed\n"
            "\n"
            "grey: 1 image, 2,000 pixels; samples 0 to 255\n"
            "       samples  min  max     mean  deviation  mean 0..1  deviation 0..1\n"
            " grey    2,000   51   51  51.0000     0.0000   0.200000        0.000000\n"
            "\n"
            " percent  50\n"
            " grey     51\n"
            "\n"
            " for training: mean=[0.200000], std=[0.000000]\n");
  EXPECT_EQ(stats({in(), "-q"}).out, "");
}

TEST_F(StatsCli, TheSameBytesWhateverTheJobs) {
  write_images();
  save_text(file("in/broken.png"), "no image");
  std::set<std::string> all;
  for (const char* jobs : {"1", "3", "8"}) {
    std::string bytes;
    for (const char* ending : {".csv", ".json", ".ndjson"}) {
      const RunResult run = stats({in(), "--recursive", "--jobs", jobs, "--threads", "4", "--json",
                                   file("s.json"), "--per-image", file(std::string("rows") + ending)});
      EXPECT_EQ(run.exit_code, 1) << run.err;
      bytes += run.out + load_text(file("s.json")) + load_text(file(std::string("rows") + ending));
    }
    all.insert(bytes);
  }
  EXPECT_EQ(all.size(), 1U);
}

TEST_F(StatsCli, StagesRunBeforeTheCount) {
  write_samples("in/c.png", {2, 1, 3}, {10, 10, 10, 20, 20, 20});
  write_samples("in/g.png", {2, 1, 1}, {30, 40});
  const RunResult run = stats({in(), "--stages", "gray,invert", "--json", "-", "-q"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const Json json = json_of(run);
  EXPECT_EQ(json["stages"], "gray,invert");
  ASSERT_EQ(json["groups"].size(), 1U);
  EXPECT_EQ(json["groups"][0]["images"], 2);
  EXPECT_EQ(json["groups"][0]["channels"]["grey"]["mean"], 230.0);
  // What needs an image's histogram, and what changes its size.
  const RunResult stretched = stats({in(), "--stages", "gray,contrast,resize:8:8", "--json", "-", "-q"});
  EXPECT_EQ(stretched.exit_code, 0) << stretched.err;
  EXPECT_EQ(json_of(stretched)["groups"][0]["pixels"], 128);
}

TEST_F(StatsCli, ABrokenFileCostsItself) {
  write_four();
  save_text(file("in/broken.png"), "no image");
  const std::string whole = load_text(file("in/c.png"));
  save_text(file("in/cut.png"), whole.substr(0, whole.size() - 20));
  const RunResult run =
      stats({in(), file("missing.png"), "--json", file("s.json"), "--per-image", file("r.ndjson")});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(lines(run.err), 3U) << run.err;
  EXPECT_NE(run.out.find("7 images: 4 counted, 3 failed\n"), std::string::npos) << run.out;
  const Json json = Json::parse(load_text(file("s.json")));
  EXPECT_EQ(json["counted"], 4);
  ASSERT_EQ(json["failures"].size(), 3U);
  EXPECT_EQ(json["failures"][0]["input"], file("in/broken.png"));
  EXPECT_EQ(json["failures"][1]["input"], file("in/cut.png"));
  EXPECT_EQ(json["failures"][2]["input"], file("missing.png"));
  EXPECT_EQ(json["groups"][1]["images"], 2);  // nothing of the one that is cut
  EXPECT_EQ(json["groups"][1]["pixels"], 3);
  std::istringstream rows(load_text(file("r.ndjson")));
  std::map<std::string, Json> by_name;
  for (std::string line; std::getline(rows, line);) {
    const Json row = Json::parse(line);
    by_name[fs::path(row["input"].get<std::string>()).filename()] = row;
  }
  ASSERT_EQ(by_name.size(), 7U);
  EXPECT_EQ(by_name["cut.png"]["status"], "failed");
  EXPECT_EQ(by_name["cut.png"]["error"], "input");
  EXPECT_TRUE(by_name["cut.png"]["channels"].is_null());
  EXPECT_EQ(by_name["d.png"]["status"], "counted");
  EXPECT_EQ(by_name["d.png"]["channels"]["alpha"]["mean"], 128.0);
  EXPECT_EQ(by_name["d.png"].size(), by_name["cut.png"].size());
  EXPECT_EQ(by_name["a.png"]["channels"]["grey"]["percentiles"]["50"], 10);
}

TEST_F(StatsCli, WithFailFastNothingIsWritten) {
  save_text(file("in/a.png"), "no image");
  for (int i = 0; i < 50; ++i) write("in/b" + std::to_string(i) + ".png", 3);
  const RunResult run = stats({in(), "--fail-fast", "--jobs", "1", "--json", file("s.json")});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.out.find("stopped early: an image failed"), std::string::npos) << run.out;
  EXPECT_NE(run.err.find("no results are written"), std::string::npos) << run.err;
  EXPECT_FALSE(fs::exists(file("s.json")));
}

TEST_F(StatsCli, EachImageHasARow) {
  write_four();
  const RunResult run = stats({in(), "--per-image", file("r.csv"), "--percentiles", "12.5,50", "-q"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto rows = csv_rows(load_text(file("r.csv")));
  ASSERT_EQ(rows.size(), 5U);
  for (const auto& row : rows) EXPECT_EQ(row.size(), 8U + 5 * 6 + 2);
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(rows[0], name) - rows[0].begin());
  };
  EXPECT_EQ(rows[1][column("input")], file("in/a.png"));
  EXPECT_EQ(rows[1][column("grey_p12.5")], "0");
  EXPECT_EQ(rows[1][column("grey_mean")], "15.0");
  EXPECT_EQ(rows[1][column("red_mean")], "");
  EXPECT_EQ(rows[2][column("alpha_max")], "255");
  EXPECT_EQ(rows[4][column("group")], "rgb");
  EXPECT_EQ(rows[4][column("blue_p50")], "11");
  EXPECT_EQ(rows[4][column("status")], "counted");
  ASSERT_EQ(stats({in(), "--per-image", file("r.json"), "-q"}).exit_code, 0);
  const Json json = Json::parse(load_text(file("r.json")));
  ASSERT_EQ(json["images"].size(), 4U);
  EXPECT_EQ(json["images"][3]["channels"]["red"]["min"], 9);
  EXPECT_EQ(json["images"][3]["bits_per_sample"], 8);
}

TEST_F(StatsCli, NamesWithCommasAreQuoted) {
  write_samples("in/a,\"b\".png", {1, 1, 1}, {7});
  ASSERT_EQ(stats({in(), "--per-image", file("r.csv"), "-q"}).exit_code, 0);
  const std::string text = load_text(file("r.csv"));
  EXPECT_NE(text.find("\n\"" + in() + "/a,\"\"b\"\".png\",,counted,grey,1,1,8,255,7,7,7.0,0.0,"),
            std::string::npos)
      << text;
}

TEST_F(StatsCli, TakesImagesAsABatchDoes) {
  write_images();
  const auto images = [&](std::vector<std::string> arguments, const RunOptions& options = {}) {
    arguments.insert(arguments.end(), {"--json", "-", "-q"});
    const RunResult run = stats(arguments, options);
    return run.exit_code == 0 ? json_of(run)["images"].get<int>() : -run.exit_code;
  };
  EXPECT_EQ(images({in()}), 3);
  EXPECT_EQ(images({in(), "--recursive"}), 5);
  EXPECT_EQ(images({in(), "--recursive", "--include", "*.png"}), 2);
  EXPECT_EQ(images({in(), "--recursive", "--exclude", "sub/"}), 3);
  EXPECT_EQ(images({in() + "/*.png", file("in/b.jpg")}), 2);
  EXPECT_EQ(images({in(), file("in/a.png")}), 3);  // one file under one name counts once
  EXPECT_EQ(images({in(), in() + "/../in/a.png"}), 3);
  RunOptions list;
  list.input = "a.png\nsub/d.png\n";
  EXPECT_EQ(images({in(), "--recursive", "--files-from", "-"}, list), 2);
  list.input = file("in/a.png") + "\n";
  EXPECT_EQ(images({"--files-from", "-"}, list), 1);
  int of_parts = 0;
  for (const char* part : {"1/2", "2/2"})
    of_parts += std::max(0, images({in(), "--recursive", "--shard", part}));
  EXPECT_EQ(of_parts, 5);
  const RunResult plan = stats({in(), "--recursive", "--dry-run"});
  EXPECT_EQ(plan.exit_code, 0);
  EXPECT_EQ(lines(plan.out), 6U) << plan.out;
  EXPECT_NE(plan.out.find("5 to count\n"), std::string::npos);
}

TEST_F(StatsCli, WhatItIsToldOfItsInputHolds) {
  write_samples("in/a.png", {40, 40, 1}, std::vector<int>(1600, 5));
  EXPECT_EQ(stats({in(), "--max-pixels", "1599"}).exit_code, 1);
  EXPECT_EQ(stats({in(), "--max-pixels", "1600"}).exit_code, 0);
  const std::string whole = load_text(file("in/a.png"));
  save_text(file("in/a.png"), whole.substr(0, whole.size() - 20));
  EXPECT_EQ(stats({in()}).exit_code, 1);
  const RunResult lenient = stats({in(), "--lenient"});
  EXPECT_EQ(lenient.exit_code, 0) << lenient.err;
  EXPECT_NE(lenient.err.find("warning"), std::string::npos);
  EXPECT_EQ(stats({in(), "--memory", "64M", "--lenient"}).exit_code, 0);
}

TEST_F(StatsCli, RefusesWhatMakesNoSense) {
  write_four();
  const std::vector<std::pair<std::vector<std::string>, std::string>> rows{
      {{}, "INPUT is missing"},
      {{""}, "an empty name"},
      {{"-"}, "not stdin"},
      {{in(), "--percentiles", ""}, "''"},
      {{in(), "--percentiles", "1,,2"}, "''"},
      {{in(), "--percentiles", "100.000001"}, "'100.000001'"},
      {{in(), "--percentiles", "101"}, "'101'"},
      {{in(), "--percentiles", "-1"}, "'-1'"},
      {{in(), "--percentiles", "1.0000001"}, "'1.0000001'"},
      {{in(), "--percentiles", "1e1"}, "'1e1'"},
      {{in(), "--stages", ""}, "a stage name is missing"},
      {{in(), "--stages", "nothing"}, "unknown stage"},
      {{in(), "--json", "s.txt"}, "must end in .json"},
      {{in(), "--json", ""}, "must end in .json"},
      {{in(), "--per-image", "s.txt"}, "must end in .csv, .json or .ndjson"},
      {{in(), "--per-image", file("x.json"), "--json", file("x.json")}, "would be written by"},
      {{in(), "--jobs", "-1"}, "--jobs"},
      {{in(), "--device", "cuda"}, "device"},
      {{in(), "--failed-out", "x"}, "failed-out"},
      {{file("empty/")}, "no images found"}};
  fs::create_directories(file("empty"));
  for (const auto& [arguments, words] : rows) expect_refused(stats(arguments), words);
}

TEST_F(StatsCli, ReplacesItsOwnFilesOnly) {
  write_four();
  for (const char* ending : {".csv", ".json", ".ndjson"}) {
    const std::string rows = file(std::string("rows") + ending);
    for (int i = 0; i < 2; ++i)
      ASSERT_EQ(stats({in(), "--per-image", rows, "--json", file("s.json"), "-q"}).exit_code, 0) << ending;
    expect_refused(stats({in(), "--per-image", rows, "--no-clobber"}), "--no-clobber");
    save_text(rows, "mine");
    expect_refused(stats({in(), "--per-image", rows}), "was not written by imgpipe");
    EXPECT_EQ(load_text(rows), "mine");
    EXPECT_EQ(stats({in(), "--per-image", rows, "--overwrite", "-q"}).exit_code, 0);
  }
  // An image that is called as the result is to be.
  fs::copy(file("in/a.png"), file("image.json"));
  expect_refused(stats({file("image.json"), "--json", file("image.json"), "--overwrite"}),
                 "is an input itself");
}

TEST_F(StatsCli, AResultThatCannotBeWrittenIsFoundBeforeTheWork) {
  write_four();
  const RunResult run = stats({in(), "--json", file("none/s.json")});
  EXPECT_EQ(run.exit_code, 4) << run.err;
  EXPECT_EQ(run.out, "");
  RunOptions full;
  full.stdout_path = "/dev/full";
  EXPECT_EQ(stats({in()}, full).exit_code, 4);
}

TEST_F(StatsCli, ASignalEndsItAndNothingIsWritten) {
  save_text(file("in/a.png"), "no image");
  for (int i = 0; i < 40; ++i) write("in/i" + std::to_string(i) + ".png", 9, 4000);
  // The line about a.png says that the work has begun.
  const int code = run_bash(
      "$I stats in --jobs 1 --threads 1 --json s.json --stages smooth,smooth,smooth,smooth,smooth,smooth "
      ">out 2>err & "
      "until [ -s err ]; do sleep 0.01; done; kill -TERM $!; wait $!",
      folder_.path().string());
  EXPECT_EQ(code, 143);
  EXPECT_NE(load_text(file("out")).find("stopped early: signal 15"), std::string::npos)
      << load_text(file("err"));
  EXPECT_FALSE(fs::exists(file("s.json")));
}

TEST_F(StatsCli, HelpNamesItsOptions) {
  const RunResult help = stats({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* option :
       {"--stages",    "--percentiles", "--json",    "--per-image", "--overwrite",  "--no-clobber",
        "--recursive", "--threads",     "--include", "--exclude",   "--files-from", "--jobs",
        "--memory",    "--fail-fast",   "--shard",   "--balance",   "--dry-run",    "--max-pixels",
        "--lenient",   "--no-orient",   "--codec",   "--quiet"})
    EXPECT_NE(help.out.find(option), std::string::npos) << option;
  EXPECT_NE(run_imgpipe({"--help"}).out.find("imgpipe stats INPUT..."), std::string::npos);
}

}  // namespace
}  // namespace imgpipe::test::stats_cli_test
