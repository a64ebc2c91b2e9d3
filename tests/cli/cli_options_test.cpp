// What the program's options do, and what it says of itself.
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
#include "tests/support/decoding.h"
#include "tests/support/files.h"
#include "tests/support/places.h"
#include "tests/support/process.h"
#include "tests/support/sanitizers.h"
#include "tests/support/webp_file.h"

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
        "--tiff-tile"}) {
    EXPECT_NE(help.out.find(option), std::string::npos) << option;
  }
  const RunResult synth = run_imgpipe({"synth", "--help"});
  for (const PatternInfo& info : pattern_table())
    EXPECT_NE(synth.out.find(std::string(info.name)), std::string::npos) << info.name;
  EXPECT_EQ(run_imgpipe({"devices", "--help"}).exit_code, 0);
}

TEST_F(Cli, VersionNamesTheBuild) {
  const RunResult run = run_imgpipe({"--version"});
  EXPECT_EQ(run.exit_code, 0);
  for (const char* part : {"imgpipe 0.2.0", "compiler", "cuda", "simd", "libjpeg-turbo", "libpng", "libwebp",
                           "ISA-L", "stb_image"}) {
    EXPECT_NE(run.out.find(part), std::string::npos) << part;
  }
}

TEST_F(Cli, EveryOptionDoesSomething) {
  const auto result = [&](std::vector<std::string> extra, const std::string& input = "color.png") {
    std::vector<std::string> arguments{file(input), file("o.png"), "-q"};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    const RunResult run = run_imgpipe(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return load_text(file("o.png"));
  };
  const std::string plain = result({});
  const Values plain_samples = samples(decode(load(file("o.png"))));
  EXPECT_EQ(result({"--device", "reference"}), plain);
  EXPECT_EQ(result({"--device", "cpu", "--threads", "3"}), plain);
  EXPECT_EQ(result({"--device", "cpu", "--threads", "1", "--fuse"}), plain);
  EXPECT_EQ(result({"--stages", "gray,hist,contrast,smooth"}), plain);
  (void)result({"--stages", "gray,contrast,smooth"});  // marked as made with other options
  EXPECT_EQ(samples(decode(load(file("o.png")))), plain_samples);
  EXPECT_EQ(result({"--repeat", "3", "--cpu"}), plain);
  EXPECT_EQ(result({"--clip", "0,0"}), plain);
  EXPECT_EQ(result({"--clip", "0.0"}), plain);
  for (const std::vector<std::string>& options :
       std::vector<std::vector<std::string>>{{"--stages", "gray"},
                                             {"--stages", "smooth"},
                                             {"--luma", "bt709"},
                                             {"--clip", "5"},
                                             {"--clip", "0,5"},
                                             {"--window", "gauss"},
                                             {"--window", "triangle"},
                                             {"--border", "replicate"},
                                             {"--border", "reflect"}}) {
    EXPECT_NE(result(options), plain) << options[0] << " " << options[1];
  }
  EXPECT_NE(result({"--stages", "contrast", "--stretch", "each"}), result({"--stages", "contrast"}));
}

TEST_F(Cli, SimdTargetsAreForcedByTheEnvironment) {
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

// 47 megapixels of colour are 141 MB; what is held is the grey plane and the file.
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

TEST_F(Cli, PngcheckFindsNothing) {
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

TEST_F(Cli, ClipWithOneNumberIsForBothEnds) {
  for (const char* clip : {"3", "3,3", "3.000000"}) {
    EXPECT_EQ(
        run_imgpipe({file("color.png"), file(std::string(clip) + ".png"), "-q", "--clip", clip}).exit_code,
        0);
  }
  EXPECT_EQ(load_text(file("3.png")), load_text(file("3,3.png")));
  EXPECT_EQ(load_text(file("3.png")), load_text(file("3.000000.png")));
}

TEST_F(Cli, EveryOutputFormat) {
  for (const char* name : {"o.png", "o.jpg", "o.bmp", "o.tga", "o.pgm", "o.ppm", "o.webp"}) {
    const RunResult run = run_imgpipe({file("color.png"), file(name), "-q"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const auto bytes = load(file(name));
    EXPECT_EQ(open_reader(bytes)->header().format, format_by_ending(name)) << name;
  }
  EXPECT_EQ(run_imgpipe({file("color.png"), file("bare"), "-q", "--format", "ppm"}).exit_code, 0);
  EXPECT_TRUE(load_text(file("bare")).starts_with("P6"));
}

TEST_F(Cli, WebpIsLosslessUnlessAskedToBeLossy) {
  const auto written = [&](std::vector<std::string> options) {
    std::vector<std::string> arguments{file("alpha.png"), file("o.webp"), "-q", "--stages", "smooth"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const RunResult run = run_imgpipe(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return load_text(file("o.webp"));
  };
  ASSERT_EQ(run_imgpipe({file("alpha.png"), file("o.tga"), "-q", "--stages", "smooth", "--cpu"}).exit_code,
            0);
  const std::string plain = written({});
  for (const char* name : {"o.webp", "o.tga"})
    ASSERT_EQ(run_imgpipe({file(name), file(std::string(name) + ".ppm"), "-q", "--stages", "gray"}).exit_code,
              0);
  EXPECT_EQ(samples(decode(load(file("o.webp.ppm")))), samples(decode(load(file("o.tga.ppm")))));
  EXPECT_EQ(written({"--webp", "lossless", "--webp-level", "1", "--quality", "7"}), plain);
  EXPECT_NE(written({"--webp-level", "9"}), plain);
  const std::string lossy = written({"--webp", "lossy"});
  EXPECT_NE(lossy, plain);
  EXPECT_EQ(written({"--webp", "lossy", "--quality", "90"}), lossy);
  EXPECT_NE(written({"--webp", "lossy", "--quality", "20"}), lossy);
  EXPECT_NE(written({"--webp", "lossy", "--webp-level", "9"}), lossy);
  // Its own files are replaced, and those of others are not.
  save(file("other.webp"), make_webp({}, synthesize(parse_pattern("photo"), {9, 5, 3}, 1).view()));
  const RunResult refused = run_imgpipe({file("color.png"), file("other.webp"), "-q"});
  EXPECT_EQ(refused.exit_code, 2);
  expect_one_line(refused);
  const RunResult large = run_imgpipe({"synth", file("l.webp"), "--pattern", "noise", "--size", "16384x1"});
  EXPECT_EQ(large.exit_code, 2);
  EXPECT_NE(large.err.find("webp holds at most 16383 pixels a side"), std::string::npos) << large.err;
  expect_one_line(large);
}

TEST_F(Cli, AlphaIsCarriedOrDroppedWithAWarning) {
  EXPECT_EQ(run_imgpipe({file("alpha.png"), file("o.png")}).err, "");
  EXPECT_EQ(open_reader(load(file("o.png")))->header().shape.channels, 2);
  const RunResult jpeg = run_imgpipe({file("alpha.png"), file("o.jpg"), "-q"});
  EXPECT_EQ(jpeg.exit_code, 0);
  EXPECT_NE(jpeg.err.find("warning: " + file("o.jpg") + ": jpeg holds no alpha"), std::string::npos)
      << jpeg.err;
  expect_one_line(jpeg);
}

TEST_F(Cli, LenientKeepsWhatIsThere) {
  const RunResult run =
      run_imgpipe({file("broken.png"), file("o.png"), "-q", "--lenient", "--stages", "gray"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.err.find("warning: " + file("broken.png")), std::string::npos) << run.err;
}

TEST_F(Cli, KeepStagesWritesEachOne) {
  EXPECT_EQ(run_imgpipe({file("color.png"), file("o.png"), "-q", "--keep-stages", file("new/stages"),
                         "--stages", "smooth,gray,contrast,smooth"})
                .exit_code,
            0);
  std::vector<std::string> names;
  for (const auto& path : files_below(file("new/stages"))) names.push_back(path.filename().string());
  EXPECT_EQ(names,
            (std::vector<std::string>{"02_smooth.png", "04_gray.png", "06_contrast.png", "07_smooth-2.png"}));
  EXPECT_EQ(load_text(file("new/stages/07_smooth-2.png")), load_text(file("o.png")));
  EXPECT_EQ(open_reader(load(file("new/stages/02_smooth.png")))->header().shape.channels, 3);
  EXPECT_EQ(
      run_imgpipe({file("alpha.png"), file("p.png"), "-q", "--keep-stages", file("a"), "--stages", "smooth"})
          .exit_code,
      0);
  EXPECT_EQ(open_reader(load(file("a/02_smooth.png")))->header().shape.channels, 4);
}

TEST_F(Cli, Histograms) {
  for (const char* name : {"h.csv", "h.json", "h.svg"}) {
    EXPECT_EQ(run_imgpipe({file("color.png"), file("o.png"), "-q", "--histogram", file(name)}).exit_code, 0);
  }
  const std::string csv = load_text(file("h.csv"));
  EXPECT_TRUE(csv.starts_with("bin,before_grey,after_grey\n0,"));
  EXPECT_EQ(std::ranges::count(csv, '\n'), 257);
  const Json json = Json::parse(load_text(file("h.json")));
  std::int64_t sum = 0;
  for (const Json& count : json["before"]["counts"]["grey"]) sum += count.get<std::int64_t>();
  EXPECT_EQ(sum, 40 * 30);
  EXPECT_LT(json["contrast"][0]["lo"], json["contrast"][0]["hi"]);
  const std::string svg = load_text(file("h.svg"));
  EXPECT_NE(svg.find(">lo "), std::string::npos);
  EXPECT_NE(svg.find(">hi "), std::string::npos);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_EQ(run_imgpipe({file("color.png"), file("o.png"), "-q", "--histogram", file("rgb.csv"), "--stages",
                         "contrast"})
                .exit_code,
            0);
  EXPECT_TRUE(load_text(file("rgb.csv")).starts_with("bin,before_red,before_green,before_blue,after_red,"));
}

TEST_F(Cli, ReportHasTheSpansOfTheRun) {
  const std::string in = file("big.jpg");
  ASSERT_EQ(run_imgpipe({"synth", in, "--pattern", "photo", "--size", "3000x2000"}).exit_code, 0);
  ASSERT_EQ(run_imgpipe({in, file("o.png"), "-q", "--report", file("r.json")}).exit_code, 0);
  const Json report = Json::parse(load_text(file("r.json")));
  EXPECT_EQ(report["input"]["width_pixels"], 3000);
  EXPECT_EQ(report["output"]["file_bytes"], fs::file_size(file("o.png")));
  // These in this order; a GPU adds rows of its own between them.
  std::vector<std::string> wanted{
      "decode (parallel)", "gray", "hist", "contrast", "smooth", "encode", "write"};
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

TEST_F(Cli, VerboseSaysWhatIsDone) {
  const RunResult run = run_imgpipe({file("grey.pgm"), file("o.png"), "-v"});
  EXPECT_NE(run.err.find("steps: hist contrast smooth"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("gray left out"), std::string::npos);
  EXPECT_NE(run.out.find("auto took "), std::string::npos) << "the report says what auto took";
}

TEST_F(Cli, Devices) {
  const RunResult table = run_imgpipe({"devices"});
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_TRUE(table.out.starts_with("cpu:"));
  const Json json = Json::parse(run_imgpipe({"devices", "--json"}).out);
  EXPECT_GE(json["cpu"]["threads"], 1);
  EXPECT_EQ(json["auto"].contains("why_no_cuda"), list_cuda_devices().devices.empty());
}

TEST_F(Cli, SynthWritesTheSameBytesTwice) {
  for (const char* name : {"a.ppm", "b.ppm"}) {
    EXPECT_EQ(
        run_imgpipe({"synth", file(name), "--pattern", "noise", "--size", "31x17", "--seed", "5"}).exit_code,
        0);
  }
  EXPECT_EQ(load_text(file("a.ppm")), load_text(file("b.ppm")));
  EXPECT_EQ(
      run_imgpipe({"synth", file("g.pgm"), "--pattern", "colors:2", "--size", "31x17", "--channels", "1"})
          .exit_code,
      0);
  EXPECT_EQ(
      run_imgpipe({"synth", file("c.pgm"), "--pattern", "colors:2", "--size", "31x17", "--channels", "3"})
          .exit_code,
      2)
      << "colour does not fit";
}

}  // namespace
}  // namespace imgpipe::test::cli_options_test
