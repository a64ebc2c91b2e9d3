// Exit codes that need a wrong engine, a device or other permissions; full disks and signals.
#include <algorithm>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include "app/command.h"
#include "tests/support/cli_folder.h"
#include "tests/support/files.h"
#include "tests/support/process.h"

namespace imgpipe::test::cli_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// ---- exit codes -------------------------------------------------------------------------------------

TEST_F(Cli, Exit3ForAnUnusableDevice) {
  for (const char* device : {"cuda", "cuda:0", "cuda:77"}) {
    const bool there = std::string_view(device) != "cuda:77" && !list_cuda_devices().devices.empty();
    if (there) continue;
    const RunResult run = run_imgpipe({file("color.png"), file("out.png"), "--device", device});
    EXPECT_EQ(run.exit_code, 3) << device;
    expect_one_line(run);
    EXPECT_FALSE(exists("out.png"));
  }
}

// The name of a second image is part of its step's text, in reports of every format and in the table.
TEST_F(Cli, NamesOfSecondImagesAreEscaped) {
  const std::string image = file("\x1b[1m\xff.png");
  fs::copy(file("color.png"), image);
  const RunResult run =
      run_imgpipe({file("color.png"), file("o.png"), "--stages", "absdiff:" + image, "--cpu", "--report",
                   file("r.json"), "--report", file("r.csv"), "--report", file("r.html")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_FALSE(Json::parse(load_text(file("r.json")), nullptr, false).is_discarded());
  for (const std::string& text :
       {run.out, run.err, load_text(file("r.json")), load_text(file("r.csv")), load_text(file("r.html"))}) {
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find('\xff'), std::string::npos);
  }
}

TEST_F(Cli, ReadOnlyDirectory) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  fs::create_directory(directory_.path() / "ro");
  fs::permissions(directory_.path() / "ro", fs::perms::owner_read | fs::perms::owner_exec);
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

// ---- full disks and signals -------------------------------------------------------------------------

TEST_F(Cli, FileSizeLimitKeepsTheOldFile) {
  save_text(file("o.ppm"), "precious");
  RunOptions limited;
  limited.file_size_limit = 1000;
  const RunResult run = run_imgpipe({file("color.png"), file("o.ppm"), "-q", "--overwrite"}, limited);
  EXPECT_EQ(run.exit_code, 4) << run.err;
  expect_one_line(run);
  EXPECT_EQ(load_text(file("o.ppm")), "precious");
  for (const std::string& name : directory_.names())
    EXPECT_EQ(name.find(".imgpipe-"), std::string::npos) << name;
}

TEST_F(Cli, FullDiskKeepsTheOldFile) {
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

TEST_F(Cli, SignalKeepsTheOldOutputAndLeavesNoTemporaryFile) {
  for (const auto& [signal, code] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}}) {
    TemporaryDirectory target;
    save_text(target.file("o.pgm"), "precious");
    RunOptions options;
    options.signal = signal;
    options.signal_directory = target.path().string();
    // Large enough that writing takes a while; the signal is sent once the temporary file appears.
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
