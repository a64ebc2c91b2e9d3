// imgpipe bench from a user's view, on the host and on a device if there is one.
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "images/memory/available_memory.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/files.h"
#include "tests/support/process.h"

namespace imgpipe::test::bench_cli_test {
namespace {

using Json = nlohmann::ordered_json;

RunResult bench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "bench");
  RunOptions options;
  options.timeout_s = 300;
  return run_imgpipe(arguments, options);
}

constexpr const char* kStages = "gray,hist,contrast,smooth";
constexpr const char* kMoreStages = "equalize,clahe,median,median5,gray16,hist16,contrast16,smooth16";

Json bench_json(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--format", "json"});
  const RunResult run = bench(std::move(arguments));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return Json::parse(run.out);
}

TEST(BenchCli, ListNamesEveryVariant) {
  const Json json = bench_json({"--list"});
  const Json& rows = json["tables"][0]["rows"];
  EXPECT_GE(rows.size(), 35U);
  std::set<std::string> names;
  for (const Json& row : rows) {
    EXPECT_TRUE(
        names.insert(row["stage"].get<std::string>() + " " + row["variant"].get<std::string>()).second);
    EXPECT_FALSE(row["idea"].get<std::string>().empty());
    EXPECT_FALSE(row["origin"].get<std::string>().empty());
  }
  for (const char* name :
       {"gray naive", "hist linear", "hist cub", "contrast table", "smooth separable", "median forgetful",
        "median5 cpu-sliding", "equalize cooperative", "clahe block-a-tile", "hist16 cluster",
        "transfer up-pinned-2d", "hist production", "jpeg, entropy decoding speculative",
        "jpeg, decoding nvjpeg-hardware", "png, packing production"})
    EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_EQ(bench_json({"--list", "--stage", "gray"})["tables"][0]["rows"].size(), 9U);
  EXPECT_EQ(bench_json({"--list", "--variant", "production,naive"})["tables"][0]["rows"].size(), 31U);
  const RunResult text = bench({"--list"});
  EXPECT_EQ(text.out.substr(0, text.out.find('\n')), std::to_string(rows.size()) + " variants");
}

TEST(BenchCli, RejectsInvalidOptions) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"extra"},
           {"--stage", "sharpen"},
           {"--stage", "split"},
           {"--stage", "gray,"},
           {"--variant", "fastest"},
           {"--stage", "gray", "--variant", "linear"},
           {"--size", "640"},
           {"--size", "100000x100000"},
           {"--pattern", "stripes"},
           {"--block", "48"},
           {"--block", "2048"},
           {"--blocks", "-1"},
           {"--repeat", "x"},
           {"--format", "xml"},
           {"--plot", "plot.png"},
           {"--html", "page.txt"},
           {"--html", "page.html", "--study", "colors"},
           {"--html", "page.html", "--list"},
           {"--device", "gpu"},
           {"--device", "cuda:0,1"},
           {"--study", "speed"},
           {"--study", "colors", "--stage", "gray"},
           {"--study", "colors", "--pattern", "noise"},
           {"--study", "pipeline", "--variant", "naive"},
           {"--study", "crossover", "--input", "x.png"},
           {"--input", "x.png", "--size", "10x10"},
           {"--list", "--plot", "x.svg"},
           {"--stage", "transfer", "--device", "cpu"},
           {"--variant", "npp", "--device", "cpu"},
       }) {
    const RunResult run = bench(arguments);
    EXPECT_EQ(run.exit_code, 2) << arguments.back() << ": " << run.err;
    EXPECT_EQ(run.err.substr(0, 9), "imgpipe: ");
    EXPECT_EQ(run.out, "");
  }
  const RunResult missing = bench({"--input", "/nowhere/x.png"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("/nowhere/x.png: "), std::string::npos);
}

// A mistyped directory must not discard minutes of measurements.
TEST(BenchCli, UnwritablePlotIsReportedBeforeMeasuring) {
  const TemporaryDirectory directory;
  const std::string plot = directory.file("none/plot.svg");
  const RunResult run =
      bench({"--stage", "gray", "--device", "reference", "--size", "50x40", "--plot", plot});
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_EQ(run.out, "");
  EXPECT_NE(run.err.find(plot + ": its directory does not exist"), std::string::npos) << run.err;
}

TEST(BenchCli, LaddersOnTheCpu) {
  const TemporaryDirectory directory;
  const Json json =
      bench_json({"--device", "cpu", "--stage", kStages, "--threads", "2", "--size", "301x203", "--size",
                  "64x64", "--pattern", "noise", "--repeat", "3", "--plot", directory.file("plot.svg")});
  ASSERT_EQ(json["tables"].size(), 8U) << "four ladders, two sizes";
  ASSERT_EQ(json["devices"].size(), 1U);
  for (const Json& table : json["tables"]) {
    const Json& rows = table["rows"];
    EXPECT_EQ(rows.size(), rows[0]["stage"] == "hist" ? 4U : 2U);
    EXPECT_EQ(rows[0]["variant"], "sequential");
    EXPECT_EQ(rows[0]["factor"], 1.0);
    for (const Json& row : rows) {
      EXPECT_EQ(row["status"], "right") << row;
      EXPECT_EQ(row["checked"], "exact");
      EXPECT_EQ(row["runs"], 3);
      const double us = row["median_us"];
      const double pixels = row["width"].get<double>() * row["height"].get<double>();
      EXPECT_GT(us, 0);
      EXPECT_LE(row["min_us"], us);
      EXPECT_GE(row["max_us"], us);
      const double bytes = row["stage"] == "gray" ? 4 : row["stage"] == "hist" ? 1 : 2;
      EXPECT_NEAR(row["gb_per_s"].get<double>(), bytes * pixels / us / 1e3, 1e-6);
      EXPECT_NEAR(row["mpixel_per_s"].get<double>(), pixels / us, 1e-3);
      EXPECT_NEAR(row["factor"].get<double>(), rows[0]["median_us"].get<double>() / us, 1e-6);
    }
  }
  const std::string svg = load_text(directory.file("plot.svg"));
  EXPECT_EQ(svg.substr(0, 4), "<svg");
  EXPECT_NE(svg.find("cpu-private"), std::string::npos);
}

TEST(BenchCli, FurtherLaddersOnTheCpu) {
  const Json json = bench_json({"--device", "cpu", "--stage", kMoreStages, "--threads", "2", "--size",
                                "131x77", "--pattern", "noise", "--repeat", "2"});
  const std::vector<std::string> names{"equalize", "clahe",  "median",     "median5",
                                       "gray16",   "hist16", "contrast16", "smooth16"};
  const std::vector<std::size_t> rows{4, 4, 7, 7, 2, 4, 2, 2};
  const std::vector<double> bytes{2, 2, 2, 2, 8, 2, 4, 4};  // per pixel
  ASSERT_EQ(json["tables"].size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Json& table = json["tables"][i];
    EXPECT_EQ(table["title"], names[i] + ", noise 131x77; factor: against sequential");
    EXPECT_EQ(table["rows"].size(), rows[i]) << names[i];
    for (const Json& row : table["rows"]) {
      EXPECT_EQ(row["checked"], "exact") << row;
      const double us = row["median_us"];
      EXPECT_NEAR(row["gb_per_s"].get<double>(), bytes[i] * 131 * 77 / us / 1e3, 1e-6) << row;
    }
  }
}

// A file's samples are converted to the bit depth of each stage.
TEST(BenchCli, FilesOfBothDepthsAreInputs) {
  const TemporaryDirectory directory;
  for (const char* depth : {"8", "16"}) {
    const std::string file = directory.file(std::string(depth) + ".png");
    ASSERT_EQ(
        run_imgpipe({"synth", file, "--pattern", "photo", "--size", "83x59", "--depth", depth}).exit_code, 0);
    const Json json = bench_json({"--device", "cpu", "--stage", "gray,hist,gray16,hist16", "--variant",
                                  "sequential,cpu", "--repeat", "1", "--input", file});
    ASSERT_EQ(json["tables"].size(), 4U) << depth;
    for (const Json& table : json["tables"]) {
      EXPECT_EQ(table["rows"].size(), 2U);
      for (const Json& row : table["rows"]) EXPECT_EQ(row["checked"], "exact") << row;
    }
  }
}

TEST(BenchCli, ReferenceAloneAndOneVariant) {
  const Json json =
      bench_json({"--device", "reference", "--stage", kStages, "--size", "50x40", "--repeat", "2"});
  ASSERT_EQ(json["tables"].size(), 4U);
  for (const Json& table : json["tables"]) EXPECT_EQ(table["rows"].size(), 1U);
  const Json one =
      bench_json({"--device", "cpu", "--stage", "hist", "--variant", "cpu-bins", "--size", "50x40"});
  ASSERT_EQ(one["tables"].size(), 1U);
  ASSERT_EQ(one["tables"][0]["rows"].size(), 1U);
  EXPECT_EQ(one["tables"][0]["rows"][0]["variant"], "cpu-bins");
  EXPECT_GE(one["tables"][0]["rows"][0]["runs"], 3);
}

TEST(BenchCli, TextMarkdownAndCsv) {
  const std::vector<std::string> what{"--device", "cpu",   "--stage",  "gray",
                                      "--size",   "64x48", "--repeat", "2"};
  const auto in_format = [&](const char* format) {
    std::vector<std::string> arguments = what;
    arguments.insert(arguments.end(), {"--format", format});
    return bench(arguments);
  };
  const RunResult text = in_format("table");
  EXPECT_NE(text.out.find("cpu: "), std::string::npos);
  EXPECT_NE(text.out.find("gray, photo 64x48; factor: against sequential\n variant "), std::string::npos);
  const RunResult markdown = in_format("markdown");
  EXPECT_NE(markdown.out.find("| sequential |"), std::string::npos);
  const RunResult csv = in_format("csv");
  EXPECT_EQ(csv.out.substr(0, 13), "stage,input,w");
  EXPECT_NE(csv.out.find("\ngray,photo 64x48,64,48,reference,sequential,"), std::string::npos);
  std::vector<std::string> quiet = what;
  quiet.emplace_back("-q");
  EXPECT_EQ(bench(quiet).out, "");
}

TEST(BenchCli, FilesAreInputs) {
  const TemporaryDirectory directory;
  for (const auto& [name, channels] : {std::pair("rgb.png", "3"), std::pair("grey.png", "1")}) {
    ASSERT_EQ(run_imgpipe({"synth", directory.file(name), "--pattern", "photo", "--size", "83x59",
                           "--channels", channels})
                  .exit_code,
              0);
  }
  const Json json = bench_json({"--device", "cpu", "--stage", kStages, "--repeat", "2", "--input",
                                directory.file("rgb.png"), "--input", directory.file("grey.png")});
  ASSERT_EQ(json["tables"].size(), 7U) << "a grey file has no gray ladder";
  EXPECT_EQ(json["tables"][0]["rows"][0]["input"], "rgb.png 83x59");
  EXPECT_EQ(json["tables"][4]["rows"][0]["input"], "grey.png 83x59");
  const RunResult large = bench({"--input", directory.file("rgb.png"), "--max-pixels", "100"});
  EXPECT_EQ(large.exit_code, 1);
  EXPECT_EQ(bench({"--device", "cpu", "--stage", "gray", "--input", directory.file("grey.png")}).exit_code,
            2);
}

TEST(BenchCli, CodecsOnTheCpu) {
  const TemporaryDirectory directory;
  const std::string plot = directory.file("plot.svg");
  const Json json = bench_json({"--device", "cpu", "--stage", "jpeg,png", "--threads", "2", "--size",
                                "301x203", "--group", "3", "--repeat", "2", "--plot", plot});
  ASSERT_EQ(json["tables"].size(), 5U);
  for (const Json& table : json["tables"]) {
    const Json& rows = table["rows"];
    EXPECT_NE(table["title"].get<std::string>().find(", 3 x photo 301x203; factor: against "),
              std::string::npos);
    for (const Json& row : rows) {
      EXPECT_EQ(row["status"], "right") << row;
      EXPECT_EQ(row["checked"].get<std::string>().substr(0, 5), "exact");
      EXPECT_EQ(row["images"], 3);
      EXPECT_EQ(row["runs"], 2);
      const double us = row["median_us"];
      EXPECT_NEAR(row["gpixel_per_s"].get<double>(), 3 * 301 * 203 / us / 1e3, 1e-6);
      EXPECT_GT(row["coded_gb_per_s"].get<double>(), 0);
      EXPECT_LT(row["coded_gb_per_s"].get<double>(), 2 * row["gpixel_per_s"].get<double>());
      EXPECT_NEAR(row["factor"].get<double>(), rows[0]["median_us"].get<double>() / us, 1e-6);
    }
  }
  EXPECT_NE(load_text(plot).find("billions of pixels per second"), std::string::npos);
  EXPECT_EQ(bench({"--stage", "jpeg", "--variant", "npp"}).exit_code, 2);
  EXPECT_EQ(bench({"--stage", "jpeg", "--group", "0"}).exit_code, 2);
}

// A JPEG that the program's own decoder supports is decoded unchanged; any other file is encoded first.
TEST(BenchCli, FilesForCodecs) {
  const TemporaryDirectory directory;
  ASSERT_EQ(run_imgpipe({"synth", directory.file("a.jpg"), "--pattern", "photo", "--size", "83x59",
                         "--quality", "97"})
                .exit_code,
            0);
  ASSERT_EQ(run_imgpipe({"synth", directory.file("b.png"), "--pattern", "photo", "--size", "83x59",
                         "--channels", "1"})
                .exit_code,
            0);
  const Json json =
      bench_json({"--device", "cpu", "--stage", "jpeg", "--variant", "sequential", "--group", "1", "--repeat",
                  "1", "--input", directory.file("a.jpg"), "--input", directory.file("b.png")});
  ASSERT_EQ(json["tables"].size(), 6U) << "entropy decoding, reconstruction, encoding of each";
  const auto coded_bytes = [&](std::size_t table) {
    const Json& row = json["tables"][table]["rows"][0];
    return row["coded_gb_per_s"].get<double>() * row["median_us"].get<double>() * 1e3;
  };
  EXPECT_EQ(json["tables"][0]["rows"][0]["input"], "a.jpg 83x59");
  EXPECT_EQ(json["tables"][3]["rows"][0]["input"], "b.png 83x59");
  EXPECT_GT(coded_bytes(0), 1.3 * coded_bytes(2)) << "at quality 97, and grey at 90";
}

TEST(BenchCli, StudiesOnTheCpu) {
  const TemporaryDirectory directory;
  const std::string plot = directory.file("study.svg");
  const Json colors = bench_json(
      {"--study", "colors", "--device", "cpu", "--size", "64x48", "--repeat", "2", "--plot", plot});
  ASSERT_EQ(colors["tables"].size(), 1U);
  EXPECT_EQ(colors["tables"][0]["rows"].size(), 4U);
  EXPECT_GT(colors["tables"][0]["rows"][0]["256 colors_gb_per_s"], 0);
  EXPECT_NE(load_text(plot).find("2 colors"), std::string::npos);
  const Json contention = bench_json(
      {"--study", "contention", "--device", "cpu", "--size", "64x48", "--repeat", "2", "--plot", plot});
  ASSERT_EQ(contention["tables"].size(), 2U);
  const Json& thresholds = contention["tables"][0]["rows"];
  EXPECT_EQ(thresholds.size(), 52U);
  EXPECT_EQ(thresholds[0]["model"], 1.0);
  EXPECT_EQ(thresholds[51]["threshold"], 255);
  EXPECT_GT(thresholds[51]["of_32_meet"], 30);
  EXPECT_NE(load_text(plot).find("model: 1 / most frequent of 32"), std::string::npos);
  const Json crossover = bench_json({"--study", "crossover", "--device", "cpu", "--size", "32x32", "--size",
                                     "16x16", "--repeat", "2", "--plot", plot});
  EXPECT_EQ(crossover["tables"][0]["title"],
            "gray, hist, contrast, smooth over a photo pattern, ms by image size");
  EXPECT_EQ(crossover["tables"][0]["rows"][0]["pixels"], 256) << "by rising size";
  EXPECT_EQ(crossover["tables"][0]["rows"][1]["pixels"], 1024);
  const Json pipeline = bench_json(
      {"--study", "pipeline", "--device", "cpu", "--size", "64x48", "--repeat", "2", "--plot", plot});
  const Json& rows = pipeline["tables"][0]["rows"];
  ASSERT_EQ(rows.size(), 6U) << "no transfers on the CPU";
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(rows[i]["cpu_compared"], "identical");
  EXPECT_EQ(rows[4]["stage"], "all kernels");
}

// With this many runs per variant, a signal after the first row leaves most variants untimed.
TEST(BenchCli, SignalKeepsFinishedRows) {
  const TemporaryDirectory directory;
  const std::string line =
      "set -m\n"  // otherwise bash ignores SIGINT
      "$I bench --device cpu --threads 1 --size 64x64 --repeat 300000 --format json --html page.html "
      "--plot plot.svg -v >out 2>err & run=$!\n"
      "for look in $(seq 3000); do grep -q 'gray sequential' err && break; sleep 0.02; done\n"
      "kill -INT $run; wait $run";
  EXPECT_EQ(run_bash(line, directory.path().string()), 130) << load_text(directory.file("err"));
  const Json tables = Json::parse(load_text(directory.file("out")))["tables"];
  ASSERT_GE(tables.size(), 1U);
  const Json& row = tables[0]["rows"][0];
  EXPECT_EQ(row["variant"], "sequential");
  EXPECT_EQ(row["runs"], 300000);
  EXPECT_LT(tables.size(), 10U);
  EXPECT_EQ(tables.back()["notes"].back(), "stopped by a signal: variants after these were not timed");
  EXPECT_NE(load_text(directory.file("page.html")).find("stopped by a signal"), std::string::npos);
  EXPECT_FALSE(load_text(directory.file("plot.svg")).empty());
  EXPECT_NE(load_text(directory.file("err")).find("stopped by signal 2; finished rows: "), std::string::npos);
}

TEST(BenchCli, ImageLargerThanMemoryIsRejectedAtOnce) {
  // 4.3 billion pixels, which take 13 bytes each.
  if (available_memory_bytes() > std::int64_t{40} << 30) GTEST_SKIP() << "this machine has the memory";
  const RunResult run =
      bench({"--device", "cpu", "--stage", "gray", "--size", "65535x65537", "--repeat", "1"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("memory"), std::string::npos) << run.err;
}

TEST(BenchCli, CudaWithoutADeviceIsAnError) {
  if (cuda_unavailable_reason().empty()) GTEST_SKIP() << "there is a CUDA device";
  EXPECT_EQ(bench({"--device", "cuda"}).exit_code, 3);
  EXPECT_EQ(bench({"--stage", "transfer"}).exit_code, 3);
  EXPECT_EQ(bench({"--variant", "naive"}).exit_code, 3);
  const RunResult all = bench({"--size", "8x8", "--repeat", "1"});
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_NE(all.out.find("cuda: none ("), std::string::npos);
}

// Whether a row may be unchecked: NPP may not be installed, or the device may lack features or memory.
bool may_not_run(const Json& row) {
  if (row["variant"] == "production") return false;
  const std::string why = row["checked"];
  return row["variant"] == "npp" || why.find("needs compute capability ") != std::string::npos ||
         why.find(" KiB of shared memory per block") != std::string::npos;
}

TEST(BenchCli, RunsOnADevice) {
  IMGPIPE_NEED_CUDA();
  const Json json = bench_json({"--stage", std::string(kStages) + "," + kMoreStages + ",transfer", "--size",
                                "640x426", "--repeat", "5", "--block", "64", "--blocks", "99"});
  ASSERT_EQ(json["tables"].size(), 13U);
  int wrong = 0;
  for (const Json& table : json["tables"]) {
    for (const Json& row : table["rows"]) {
      if (row["status"] == "not run") {
        EXPECT_TRUE(may_not_run(row)) << row;
        continue;
      }
      EXPECT_TRUE(row["status"] == "right" || row["variant"] == "non-atomic") << row;
      wrong += row["status"] == "wrong as said" ? 1 : 0;
      EXPECT_EQ(row["runs"], 5);
    }
  }
  EXPECT_EQ(wrong, 1);
  const Json cuda =
      bench_json({"--device", "cuda", "--stage", "smooth", "--size", "640x426", "--block", "1024"});
  for (const Json& row : cuda["tables"][0]["rows"]) EXPECT_EQ(row["device"], "cuda");
  const Json many = bench_json({"--device", "cuda", "--stage", "hist", "--variant", "threads-256", "--size",
                                "64x64", "--block", "256"});
  EXPECT_EQ(many["tables"][0]["rows"][0]["status"], "not run");
  for (const char* study : {"colors", "contention", "crossover", "pipeline"})
    EXPECT_FALSE(bench_json({"--study", study, "--size", "320x200", "--repeat", "3"})["tables"].empty())
        << study;
}

}  // namespace
}  // namespace imgpipe::test::bench_cli_test
