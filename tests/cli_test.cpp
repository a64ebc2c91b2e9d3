// The program as its users meet it: exit codes, options, streams, hostile names, full disks, signals.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/command.h"
#include "images/codecs/codec.h"
#include "images/simd.h"
#include "images/synth.h"
#include "images/text.h"
#include "kernels/stage.h"
#include "tests/support/files.h"
#include "tests/support/places.h"
#include "tests/support/process.h"
#include "tests/support/sanitizers.h"
#include "tests/support/webp_file.h"

namespace imgpipe::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// A folder with a small colour image, a grey one, one with alpha and one that is damaged.
class Cli : public testing::Test {
 protected:
  void SetUp() override {
    write("color.png", make(3), Format::png);
    write("grey.pgm", make(1), Format::pgm);
    Image rgba({24, 18, 4});
    for (std::int64_t i = 0; i < rgba.shape().samples(); ++i)
      rgba.view().data[i] = static_cast<Sample>(i * 7);
    write("alpha.png", rgba, Format::png);
    std::vector<std::byte> bytes = load(file("color.png"));
    bytes.resize(bytes.size() / 2);
    save(file("broken.png"), bytes);
  }

  static Image make(int channels) { return synthesize(parse_pattern("photo"), {40, 30, channels}, 4); }
  void write(const std::string& name, const Image& image, Format format) const {
    const auto writer = make_writer(format, image.shape());
    writer->write_rows(image.view());
    save(file(name), writer->finish().joined());
  }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }
  [[nodiscard]] bool exists(const std::string& name) const { return fs::exists(file(name)); }

  TemporaryFolder folder_;
};

// One line, printable, beginning with the program's name.
void expect_one_line(const RunResult& run) {
  EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
  EXPECT_TRUE(run.err.starts_with("imgpipe: ")) << run.err;
  const std::string line = run.err.substr(0, run.err.empty() ? 0 : run.err.size() - 1);
  EXPECT_EQ(printable(line), line);
}

// ---- exit codes -------------------------------------------------------------------------------------

TEST_F(Cli, Exit0WritesTheImageAndTheTable) {
  const RunResult run = run_imgpipe({file("color.png"), file("out.png")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  for (const char* row : {"decode", "gray", "hist", "contrast", "smooth", "encode", "write",
                          "kernels + transfers", "end to end"}) {
    EXPECT_NE(run.out.find(row), std::string::npos) << row << "\n" << run.out;
  }
  EXPECT_EQ(run.out.find('\x1b'), std::string::npos) << "no colour into a pipe";
  EXPECT_EQ(open_reader(load(file("out.png")))->header().shape, (Shape{40, 30, 1}));
}

TEST_F(Cli, Exit1ForAnInputThatFails) {
  for (const std::string& input : {file("broken.png"), file("missing.png"), std::string("/dev/zero")}) {
    const RunResult run = run_imgpipe({input, file("out.png")});
    EXPECT_EQ(run.exit_code, 1) << input;
    expect_one_line(run);
    EXPECT_NE(run.err.find(input + ": "), std::string::npos) << run.err;
    EXPECT_FALSE(exists("out.png"));
  }
}

TEST_F(Cli, AFailedInputLeavesTheOldOutput) {
  save_text(file("out.png"), "precious");
  EXPECT_EQ(run_imgpipe({file("broken.png"), file("out.png"), "--overwrite"}).exit_code, 1);
  EXPECT_EQ(load_text(file("out.png")), "precious");
}

TEST_F(Cli, Exit2ForEveryMisuse) {
  const std::string in = file("color.png");
  const std::string out = file("out.png");
  const std::vector<std::vector<std::string>> misuses{
      {},
      {in},
      {in, out, "third"},
      {"", out},
      {in, ""},
      {in, file("out")},
      {in, file("out.xyz")},
      {in, file("out.gif")},
      {in, file("out.psd")},
      {in, file("out.pgm"), "--stages", "smooth"},
      {in, out, "--format", "gif"},
      {in, out, "--format", "nonsense"},
      {in, out, "--no-such-option"},
      {in, out, "--stages"},
      {in, out, "--stages", ""},
      {in, out, "--stages", "gray,emboss"},
      {in, out, "--luma", "bt2020"},
      {in, out, "--window", "hann"},
      {in, out, "--border", "wrap"},
      {in, out, "--stretch", "all"},
      {in, out, "--clip", "100"},
      {in, out, "--clip", "-1"},
      {in, out, "--clip", "1,2,3"},
      {in, out, "--clip", "1e1"},
      {in, out, "--clip", "0.1234567"},
      {in, out, "--clip", ""},
      {in, out, "--device", "gpu"},
      {in, out, "--device", "cuda:x"},
      {in, out, "--threads", "-1"},
      {in, out, "--threads", "many"},
      {in, out, "--repeat", "1.5"},
      {in, out, "--repeat", "-3"},
      {in, out, "--quality", "0"},
      {in, out, "--quality", "101"},
      {in, out, "--png-level", "10"},
      {in, out, "--webp", "fast"},
      {in, out, "--webp-level", "10"},
      {in, out, "--webp-level", "-1"},
      {in, out, "--tiff-compression", "jbig"},
      {in, out, "--tiff-tile", "17"},
      {in, out, "--tiff-tile", "8192"},
      {in, out, "--max-pixels", "0"},
      {in, out, "--max-pixels", "999999999999999999999"},
      {in, out, "--codec", "magick"},
      {in, out, "--report", file("r.txt")},
      {in, out, "--report", ""},
      {in, out, "--report", out},
      {in, out, "--histogram", file("h.png")},
      {in, out, "--histogram", file("h.svg"), "--stages", "gray"},
      {in, out, "--keep-stages", ""},
      {in, out, "-q", "-v"},
      {"synth"},
      {"synth", out},
      {"synth", out, "--pattern", "noise"},
      {"synth", out, "--size", "4x4"},
      {"synth", out, "--pattern", "nothing", "--size", "4x4"},
      {"synth", out, "--pattern", "noise", "--size", "4"},
      {"synth", out, "--pattern", "noise", "--size", "0x4"},
      {"synth", out, "--pattern", "noise", "--size", "4x-4"},
      {"synth", out, "--pattern", "noise", "--size", "4x4x4"},
      {"synth", out, "--pattern", "noise", "--size", "2000000000x2000000000"},
      {"synth", out, "--pattern", "noise", "--size", "4x4", "--channels", "5"},
      {"synth", out, "--pattern", "noise", "--size", "4x4", "--seed", "-1"},
      {"devices", "extra"},
      {"bench", "extra"},
  };
  for (const auto& arguments : misuses) {
    std::string text;
    for (const std::string& argument : arguments) text += " '" + argument + "'";
    SCOPED_TRACE(text);
    const RunResult run = run_imgpipe(arguments);
    EXPECT_EQ(run.exit_code, 2);
    expect_one_line(run);
    EXPECT_EQ(run.out, "");
    EXPECT_FALSE(exists("out.png"));
  }
}

TEST_F(Cli, Exit3ForADeviceThatCannotBeUsed) {
  for (const char* device : {"cuda", "cuda:0", "cuda:77"}) {
    const bool there = std::string_view(device) != "cuda:77" && !list_cuda_devices().devices.empty();
    if (there) continue;
    const RunResult run = run_imgpipe({file("color.png"), file("out.png"), "--device", device});
    EXPECT_EQ(run.exit_code, 3) << device;
    expect_one_line(run);
    EXPECT_FALSE(exists("out.png"));
  }
}

TEST_F(Cli, Exit4ForABrokenOutputSide) {
  const std::vector<std::string> targets{file("no/such/folder/out.png"), file("grey.pgm") + "/out.png"};
  for (const std::string& target : targets) {
    const RunResult run = run_imgpipe({file("color.png"), target});
    EXPECT_EQ(run.exit_code, 4) << run.err;
    expect_one_line(run);
    EXPECT_NE(run.err.find(target), std::string::npos) << run.err;
  }
  RunOptions full;
  full.stdout_path = "/dev/full";
  EXPECT_EQ(run_imgpipe({file("color.png"), "-", "--format", "png"}, full).exit_code, 4);
  EXPECT_EQ(run_imgpipe({file("color.png"), file("out.png")}, full).exit_code, 4)
      << "the table cannot be printed";
  EXPECT_EQ(run_imgpipe({"--version"}, full).exit_code, 4);
  EXPECT_EQ(run_imgpipe({file("color.png"), "/dev/full", "--format", "png", "-q"}).exit_code, 4);
  EXPECT_EQ(run_imgpipe({file("color.png"), file("x.png"), "-q", "--report", file("no/r.json")}).exit_code,
            4);
  EXPECT_EQ(
      run_imgpipe({file("color.png"), file("x.png"), "-q", "--keep-stages", file("grey.pgm")}).exit_code, 4);
}

TEST_F(Cli, ReadOnlyFolder) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  fs::create_directory(folder_.path() / "ro");
  fs::permissions(folder_.path() / "ro", fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(run_imgpipe({file("color.png"), file("ro/out.png")}).exit_code, 4);
}

// An engine that is wrong in one pixel.
class WrongEngine final : public Engine {
 public:
  [[nodiscard]] std::string_view implementation() const override { return "wrong"; }
  [[nodiscard]] std::string device_name() const override { return inner_->device_name(); }
  [[nodiscard]] double copy_bandwidth() override { return 0; }

 protected:
  void execute(Job& job, Outcome& outcome) override {
    job.plan = std::move(outcome.plan);
    job.timeline = std::move(outcome.timeline);
    outcome = inner_->run(std::move(job));
    outcome.memory.back().view().data[0] ^= 1;
  }

 private:
  std::unique_ptr<Engine> inner_ = make_reference_engine();
};

TEST_F(Cli, Exit5WhenTheComparisonFindsADifference) {
  const EngineFactory wrong = [](const DeviceChoice&, int) { return std::make_unique<WrongEngine>(); };
  const std::vector<std::string> arguments{file("color.png"), file("out.png"), "-q",
                                           "--cpu",           "--report",      file("r.json")};
  EXPECT_EQ(run_command(arguments, wrong), 5);
  EXPECT_TRUE(exists("out.png"));
  const Json report = Json::parse(load_text(file("r.json")));
  EXPECT_EQ(report["comparison"], "different");
  EXPECT_EQ(report["device"]["implementation"], "wrong");
  EXPECT_EQ(run_command(arguments), 0);
  EXPECT_EQ(Json::parse(load_text(file("r.json")))["comparison"], "identical");
}

// ---- streams ----------------------------------------------------------------------------------------

TEST_F(Cli, StandardStreams) {
  RunOptions options;
  options.input = load_text(file("color.png"));
  const RunResult piped = run_imgpipe({"-", "-", "--format", "png"}, options);
  EXPECT_EQ(piped.exit_code, 0) << piped.err;
  EXPECT_NE(piped.err.find("end to end"), std::string::npos) << "the table goes to stderr";
  EXPECT_EQ(run_imgpipe({file("color.png"), file("out.png"), "-q"}).exit_code, 0);
  EXPECT_EQ(piped.out, load_text(file("out.png")));
  EXPECT_EQ(run_imgpipe({"-", "-", "-q", "--format", "png"}, options).err, "");
  EXPECT_EQ(run_imgpipe({"-", "-"}, options).exit_code, 2) << "no ending says the format";
  options.input.resize(100);
  const RunResult cut = run_imgpipe({"-", "-", "--format", "png"}, options);
  EXPECT_EQ(cut.exit_code, 1);
  EXPECT_EQ(cut.out, "") << "nothing before the whole image is there";
  EXPECT_NE(cut.err.find("stdin: "), std::string::npos);
}

TEST_F(Cli, AReaderThatGoesAwayIsExit4) {
  const std::string command = std::string("'") + kProgram +
                              "' synth - --pattern noise --size 2000x2000 --format ppm 2>'" + file("err") +
                              "'; echo $? >'" + file("code") + "'";
  ASSERT_EQ(std::system(("{ " + command + "; } | head -c 10 >/dev/null").c_str()), 0);
  EXPECT_EQ(load_text(file("code")), "4\n");
  EXPECT_NE(load_text(file("err")).find("stdout: "), std::string::npos);
}

// ---- options ----------------------------------------------------------------------------------------

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
  for (const char* part : {"imgpipe 0.", "commit", "compiler", "cuda", "simd", "libjpeg-turbo", "libpng",
                           "libwebp", "ISA-L", "stb_image"}) {
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
  EXPECT_EQ(result({"--device", "reference"}), plain);
  EXPECT_EQ(result({"--device", "cpu", "--threads", "3"}), plain);
  EXPECT_EQ(result({"--device", "cpu", "--threads", "1", "--fuse"}), plain);
  EXPECT_EQ(result({"--stages", "gray,hist,contrast,smooth"}), plain);
  EXPECT_EQ(result({"--stages", "gray,contrast,smooth"}), plain);
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
        ASSERT_EQ(run_imgpipe({file(input), file("o.png"), "-q", "--stages", stages, "--png-level", level})
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
  EXPECT_EQ(load_text(file("o.webp.ppm")), load_text(file("o.tga.ppm")));
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
      run_imgpipe({file("alpha.png"), file("o.png"), "-q", "--keep-stages", file("a"), "--stages", "smooth"})
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

TEST_F(Cli, ReportHasSpansThatCoverTheRun) {
  const std::string in = file("big.jpg");
  ASSERT_EQ(run_imgpipe({"synth", in, "--pattern", "photo", "--size", "3000x2000"}).exit_code, 0);
  // On a machine that is busy with something else threads wait between their spans: the best of several runs
  // counts.
  Json report;
  double best = -1;
  for (int i = 0; i < 7; ++i) {
    ASSERT_EQ(run_imgpipe({in, file("o.png"), "-q", "--report", file("r.json")}).exit_code, 0);
    const Json one = Json::parse(load_text(file("r.json")));
    const double share = one["span_union_ms"].get<double>() / one["wall_ms"].get<double>();
    if (share > best) report = one;
    best = std::max(best, share);
  }
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
  EXPECT_GE(covered, 0.97 * wall);
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

// ---- names and links --------------------------------------------------------------------------------

TEST_F(Cli, HostileNamesAreUsedAsTheyAreAndShownHarmless) {
  for (const std::string& name :
       {std::string("new\nline"), std::string("\x1B[31mred\x1B[0m"), std::string("\xFF\xFE"),
        std::string("a b'\"$(x)"), std::string("%s%n"), std::string("--stages"), std::string(200, 'n')}) {
    const std::string in = file(name + ".png");
    fs::copy_file(file("color.png"), in);
    const RunResult run = run_imgpipe({in, file(name + "_out.png")});
    EXPECT_EQ(run.exit_code, 0) << printable(run.err);
    for (const std::string& line : {run.out, run.err}) {
      for (const char c : line) ASSERT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
      EXPECT_EQ(line.find('\xFF'), std::string::npos);
    }
    const RunResult failed = run_imgpipe({file(name + "missing"), file("x.png")});
    EXPECT_EQ(failed.exit_code, 1);
    expect_one_line(failed);
    const RunResult json =
        run_imgpipe({in, file("y.png"), "-q", "--report", file("r.json"), "--histogram", file("h.svg")});
    EXPECT_EQ(json.exit_code, 0);
    EXPECT_TRUE(Json::accept(load_text(file("r.json"))));
  }
  RunOptions here;
  here.folder = folder_.path().string();
  fs::copy_file(file("color.png"), file("-dash.png"));
  EXPECT_EQ(run_imgpipe({"-q", "--", "-dash.png", "-out.png"}, here).exit_code, 0);
  EXPECT_TRUE(exists("-out.png"));
}

TEST_F(Cli, OutputThatIsTheInputIsRefused) {
  fs::create_hard_link(file("color.png"), file("hard.png"));
  fs::create_symlink("color.png", file("soft.png"));
  const std::string before = load_text(file("color.png"));
  for (const std::string& target :
       {file("color.png"), file("./color.png"), file("hard.png"), file("soft.png")}) {
    for (const bool swapped : {false, true}) {
      const RunResult run =
          run_imgpipe({swapped ? target : file("color.png"), swapped ? file("color.png") : target});
      EXPECT_EQ(run.exit_code, 2) << target;
      expect_one_line(run);
    }
  }
  EXPECT_EQ(load_text(file("color.png")), before);
  EXPECT_EQ(run_imgpipe({file("color.png"), file("o.png"), "-q", "--report", file("color.png")}).exit_code,
            2);
}

TEST_F(Cli, ColourOnlyWhereItIsWanted) {
  RunOptions none;
  none.environment["NO_COLOR"] = "1";
  for (const auto& run : {run_imgpipe({file("missing.png"), file("o.png")}),
                          run_imgpipe({file("missing.png"), file("o.png")}, none),
                          run_imgpipe({file("missing.png"), file("o.png"), "--no-color"})}) {
    EXPECT_EQ(run.err.find('\x1b'), std::string::npos);
  }
}

// ---- full disks and signals -------------------------------------------------------------------------

TEST_F(Cli, AFileSizeLimitLeavesTheOldFile) {
  save_text(file("o.ppm"), "precious");
  RunOptions limited;
  limited.file_size_limit = 1000;
  const RunResult run = run_imgpipe({file("color.png"), file("o.ppm"), "-q", "--overwrite"}, limited);
  EXPECT_EQ(run.exit_code, 4) << run.err;
  expect_one_line(run);
  EXPECT_EQ(load_text(file("o.ppm")), "precious");
  for (const std::string& name : folder_.names())
    EXPECT_EQ(name.find(".imgpipe-"), std::string::npos) << name;
}

TEST_F(Cli, AFullDiskLeavesTheOldFile) {
  const std::string disk = file("disk");
  fs::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "mounting a small file system needs more rights";
  save_text(disk + "/o.ppm", "precious");
  const RunResult run =
      run_imgpipe({"synth", disk + "/o.ppm", "--pattern", "noise", "--size", "400x400", "--overwrite"});
  const std::string kept = load_text(disk + "/o.ppm");
  const std::size_t left = files_below(disk).size();
  ::umount(disk.c_str());
  EXPECT_EQ(run.exit_code, 4) << run.err;
  EXPECT_NE(run.err.find("No space left"), std::string::npos) << run.err;
  EXPECT_EQ(kept, "precious");
  EXPECT_EQ(left, 1U);
}

TEST_F(Cli, ASignalLeavesNoTemporaryFileAndTheOldOutput) {
  for (const auto& [signal, code] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}}) {
    TemporaryFolder target;
    save_text(target.file("o.pgm"), "precious");
    RunOptions options;
    options.signal = signal;
    options.signal_folder = target.path().string();
    // Large enough that writing takes a while; the signal comes as soon as the temporary file is seen.
    const RunResult run = run_imgpipe({"synth", target.file("o.pgm"), "--pattern", "constant:7", "--size",
                                       "20000x20000", "--channels", "1", "--overwrite"},
                                      options);
    EXPECT_EQ(run.exit_code, code) << run.err;
    EXPECT_FALSE(run.signalled) << "the handler ends the program itself";
    EXPECT_EQ(load_text(target.file("o.pgm")), "precious");
    EXPECT_EQ(target.names().size(), 1U);
  }
}

}  // namespace
}  // namespace imgpipe::test
