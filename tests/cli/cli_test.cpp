// The program as its users meet it: exit codes, options, streams, hostile names, full disks, signals.
#include <algorithm>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/command.h"
#include "images/codecs/codec.h"
#include "images/text.h"
#include "tests/support/cli_folder.h"
#include "tests/support/decoding.h"
#include "tests/support/files.h"
#include "tests/support/places.h"
#include "tests/support/process.h"
#include "tests/support/webp_file.h"

namespace imgpipe::test::cli_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

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
  // A stream has no name, and a plain mark.
  const std::span piped_bytes = std::as_bytes(std::span(piped.out));
  EXPECT_EQ(samples(decode({piped_bytes.begin(), piped_bytes.end()})),
            samples(decode(load(file("out.png")))));
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
}  // namespace imgpipe::test::cli_test
