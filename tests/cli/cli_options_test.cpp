// The effects of the program's options, and its help and version texts.
#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "images/codecs/codec.h"
#include "images/simd.h"
#include "images/synth.h"
#include "kernels/stage.h"
#include "pipeline/device.h"
#include "tests/support/cli_folder.h"
#include "tests/support/files.h"
#include "tests/support/process.h"
#include "tests/support/sanitizers.h"
#include "tests/support/test_paths.h"

namespace imgpipe::test::cli_options_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

TEST_F(Cli, HelpNamesEveryStagePatternAndOption) {
  const RunResult help = run_imgpipe({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_EQ(help.err, "");
  for (const Stage& stage : stage_table()) {
    if (stage.selectable) {
      EXPECT_NE(help.out.find(std::string(stage.summary).substr(0, 12)), std::string::npos) << stage.name;
    }
  }
  for (const char* option :
       {"--stages",        "--luma",      "--clip",        "--stretch",    "--window",
        "--border",        "--device",    "--threads",     "--cpu",        "--report",
        "--repeat",        "--histogram", "--keep-stages", "--no-orient",  "--max-pixels",
        "--lenient",       "--codec",     "--format",      "--quality",    "--png-level",
        "--quiet",         "--verbose",   "--no-color",    "--version",    "--recursive",
        "--include",       "--exclude",   "--jobs",        "--memory",     "--files-from",
        "--failed-out",    "--shard",     "--fail-fast",   "--dry-run",    "--trace",
        "--skip-existing", "--balance",   "--webp",        "--webp-level", "--tiff-compression",
        "--tiff-tile",     "--accept"}) {
    EXPECT_NE(help.out.find(option), std::string::npos) << option;
  }
  const RunResult synth = run_imgpipe({"synth", "--help"});
  for (const PatternInfo& info : pattern_table())
    EXPECT_NE(synth.out.find(std::string(info.name)), std::string::npos) << info.name;
  EXPECT_EQ(run_imgpipe({"devices", "--help"}).exit_code, 0);
}

TEST_F(Cli, EnvironmentForcesSimdTargets) {
  const auto run_on = [&](const std::string& target, const std::string& output) {
    RunOptions options;
    options.environment["IMGPIPE_SIMD"] = target;
    return run_imgpipe({file("color.png"), file(output), "--device", "cpu", "--threads", "2", "--cpu"},
                       options);
  };
  ASSERT_EQ(run_on("", "best.png").exit_code, 0);
  for (const std::string& target : simd_targets()) {
    const RunResult run = run_on(target, "o.png");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_NE(run.out.find("2 threads, " + target), std::string::npos) << run.out;
    EXPECT_EQ(load_text(file("o.png")), load_text(file("best.png"))) << target;
  }
  const RunResult unknown = run_on("AVX1024", "none.png");
  EXPECT_EQ(unknown.exit_code, 2);
  expect_one_line(unknown);
  EXPECT_NE(unknown.err.find(simd_targets().front()), std::string::npos) << "it names those that there are";
  EXPECT_FALSE(exists("none.png"));
}

// The program detects them itself (images/simd_detection.cpp); this test uses Highway's library.
TEST_F(Cli, DetectsTheInstructionSetsThatHighwayDetects) {
  std::string line = "simd:    ";
  for (const std::string& target : simd_targets()) line += " " + target;
  line += " (on this processor; " + simd_target() + " is used)\n";
  const RunResult run = run_imgpipe({"--version"});
  EXPECT_NE(run.out.find(line), std::string::npos) << run.out << line;
}

// 47 megapixels of colour take 141 MB; the program keeps only the grey plane and the file.
TEST_F(Cli, PeakMemoryOfALargeImage) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory is counted too";
  const RunResult synth =
      run_imgpipe({"synth", file("big.jpg"), "--pattern", "photo", "--size", "8773x5352", "-q"});
  ASSERT_EQ(synth.exit_code, 0) << synth.err;
  const RunResult run = run_imgpipe({file("big.jpg"), file("big.png"), "--device", "cpu", "--threads", "2"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_LE(run.max_rss_bytes, 130'000'000);
  EXPECT_GE(run.max_rss_bytes, 47'000'000) << "the measurement itself";
}

// With -q, hist may find only the extremes (CountsFor), but not if its counts are written.
TEST_F(Cli, QuietHistogramsAreComplete) {
  write("a.png", make(3), Format::png);
  for (const char* quiet : {"-q", "-v"}) {
    const RunResult run =
        run_imgpipe({file("a.png"), file("b.png"), quiet, "--histogram", file(quiet) + ".csv"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
  EXPECT_EQ(load_text(file("-q.csv")), load_text(file("-v.csv")));
  const std::string csv = load_text(file("-q.csv"));
  EXPECT_GT(std::ranges::count(csv, '\n'), 200);
}

TEST_F(Cli, PngcheckAcceptsOutputs) {
  if (std::system("command -v pngcheck > /dev/null") != 0) GTEST_SKIP() << "pngcheck is not installed";
  for (const char* level : {"0", "1", "3", "4", "9"}) {
    for (const char* input : {"color.png", "grey.pgm", "alpha.png"}) {
      for (const char* stages : {"gray", "smooth"}) {
        ASSERT_EQ(run_imgpipe({file(input), file("o.png"), "-q", "--stages", stages, "--png-level", level,
                               "--overwrite"})
                      .exit_code,
                  0);
        const std::string command = "pngcheck -q '" + file("o.png") + "'";
        EXPECT_EQ(std::system(command.c_str()), 0) << input << " " << stages << " level " << level;
      }
    }
  }
}

TEST_F(Cli, ReportHasTheRunsSpans) {
  const std::string in = file("big.jpg");
  ASSERT_EQ(run_imgpipe({"synth", in, "--pattern", "photo", "--size", "3000x2000"}).exit_code, 0);
  ASSERT_EQ(run_imgpipe({in, file("o.png"), "-q", "--report", file("r.json")}).exit_code, 0);
  const Json report = Json::parse(load_text(file("r.json")));
  EXPECT_EQ(report["input"]["width_pixels"], 3000);
  EXPECT_EQ(report["output"]["file_bytes"], fs::file_size(file("o.png")));
  // These rows must appear in this order; a GPU adds its own rows between them.
  std::vector<std::string> wanted{"decode+gray (parallel)", "hist", "contrast", "smooth", "encode", "write"};
  for (const Json& row : report["rows"]) {
    if (!wanted.empty() && row["name"] == wanted.front()) wanted.erase(wanted.begin());
  }
  EXPECT_EQ(wanted, std::vector<std::string>{});
  const double wall = report["wall_ms"];
  const double covered = report["span_union_ms"];
  EXPECT_LE(covered, wall);
  EXPECT_GT(covered, 0);
  double last_end = 0;
  for (const Json& span : report["spans"]) {
    EXPECT_LE(span["start_ms"], span["end_ms"]);
    last_end = std::max(last_end, span["end_ms"].get<double>());
  }
  EXPECT_LE(last_end, wall);
  EXPECT_EQ(run_imgpipe({in, file("o.png"), "-q", "--cpu", "--report", file("r.csv")}).exit_code, 0);
  const std::string csv = load_text(file("r.csv"));
  EXPECT_GE(std::ranges::count(csv, '\n'), 1 + 7 + 3);
  EXPECT_NE(csv.find("identical"), std::string::npos);
}

TEST_F(Cli, Devices) {
  const RunResult table = run_imgpipe({"devices"});
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_TRUE(table.out.starts_with("cpu:"));
  const Json json = Json::parse(run_imgpipe({"devices", "--json"}).out);
  EXPECT_GE(json["cpu"]["threads"], 1);
  EXPECT_EQ(json["auto"].contains("why_no_cuda"), list_cuda_devices().devices.empty());
}

}  // namespace
}  // namespace imgpipe::test::cli_options_test
