// Batches as their users meet them: trees with everything in them, reports, and runs that are interrupted.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "images/text.h"
#include "tests/support/batch_cli.h"
#include "tests/support/decoding.h"

namespace imgpipe::test::batch_runs_test {
namespace {

using Json = nlohmann::json;
using BatchRuns = BatchCli;

// ---- what a tree may hold ---------------------------------------------------------------------------

TEST_F(BatchRuns, LoopsAndSpecialFiles) {
  fs::create_directory_symlink("..", in() + "/sub/up");
  fs::create_directory_symlink(in(), in() + "/self");
  fs::create_symlink("a.png", in() + "/linked.png");
  fs::create_symlink("nowhere", in() + "/dangling.png");
  ::mkfifo(file("in/fifo.png").c_str(), 0600);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_LT(file("in/socket.png").size(), sizeof address.sun_path);
  std::ranges::copy(file("in/socket.png"), address.sun_path);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  fs::create_symlink("/dev/zero", in() + "/device.png");
  const RunResult run = run_imgpipe({in(), out(), "--recursive"});
  ::close(socket);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(lines(run.err), 4U) << run.err;
  for (const char* bad : {"fifo.png: ", "socket.png: ", "device.png: ", "dangling.png: "})
    EXPECT_NE(run.err.find(bad), std::string::npos) << run.err;
  EXPECT_EQ(written(), (Names{"a.png", "b.jpg", "c.GIF.ppm", "linked.png", "sub/d.png", "sub/deep/e.bmp"}));
}

TEST_F(BatchRuns, UnreadableFilesAndFolders) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  fs::permissions(in() + "/a.png", fs::perms::none);
  fs::permissions(in() + "/sub/deep", fs::perms::none);
  const RunResult run = run_imgpipe({in(), out(), "--recursive"});
  fs::permissions(in() + "/sub/deep", fs::perms::owner_all);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(lines(run.err), 2U) << run.err;
  EXPECT_EQ(written(), (Names{"b.jpg", "c.GIF.ppm", "sub/d.png"}));
}

TEST_F(BatchRuns, EveryCorruptFileIsOneLineAndCostsNothingElse) {
  IMGPIPE_NEED_CORPUS();
  constexpr std::size_t kGood = 300;
  fs::create_directory(file("mixed"));
  for (std::size_t i = 0; i < kGood; ++i)
    write("mixed/good" + std::to_string(i) + (i % 2 == 0 ? ".png" : ".jpg"), 100 + i,
          static_cast<std::int64_t>(20 + i % 40));
  ASSERT_EQ(run_imgpipe({file("mixed"), file("clean"), "-q", "--format", "png"}).exit_code, 0);
  const auto clean = contents(file("clean"));
  std::size_t bad = 0;
  for (const char* folder : {"broken", "bombs"}) {
    for (const fs::path& path : files_below(*corpus() / folder)) {
      fs::create_symlink(path, file("mixed/" + std::to_string(bad++) + "_" + path.filename().string()));
    }
  }
  for (const char* jobs : {"1", "2", "8"}) {
    fs::remove_all(out());
    RunOptions patient;
    patient.timeout_s = 300;
    const RunResult run = run_imgpipe({file("mixed"), out(), "--format", "png", "--include", "*", "--jobs",
                                       jobs, "--report", file("r.json")},
                                      patient);
    EXPECT_EQ(run.exit_code, 1) << run.err;
    const Json report = Json::parse(load_text(file("r.json")));
    EXPECT_EQ(report["images"], kGood + bad);
    EXPECT_EQ(report["done"].get<std::size_t>() + report["failed"].get<std::size_t>(), kGood + bad);
    EXPECT_GT(report["failed"], bad / 2);
    EXPECT_EQ(report["done"], written().size());
    std::istringstream errors(run.err);
    std::size_t failures = 0;
    for (std::string line; std::getline(errors, line);) {
      EXPECT_TRUE(line.starts_with("imgpipe: ")) << line;
      EXPECT_EQ(printable(line), line);
      if (!line.starts_with("imgpipe: warning: ")) ++failures;
    }
    EXPECT_EQ(report["failed"], failures);
    const auto all = contents(out());
    for (const auto& [name, bytes] : clean) EXPECT_EQ(all.at(name), bytes) << name;
  }
}

// ---- reports ----------------------------------------------------------------------------------------

TEST_F(BatchRuns, ReportsAndTrace) {
  save_text(file("in/z.png"), "no image");
  const RunResult run =
      run_imgpipe({in(), out(), "--recursive", "--report", file("r.json"), "--report", file("r.ndjson"),
                   "--trace", file("t.json"), "--failed-out", file("failed"), "--jobs", "2"});
  EXPECT_EQ(run.exit_code, 1);
  const Json totals = Json::parse(load_text(file("r.json")));
  EXPECT_EQ(totals["images"], 6);
  EXPECT_EQ(totals["done"], 5);
  EXPECT_EQ(totals["failed"], 1);
  EXPECT_EQ(totals["failures"].size(), 1U);
  EXPECT_EQ(totals["pixels"], 5 * 40 * 30);
  EXPECT_GT(totals["images_per_s"], 0);
  EXPECT_GT(totals["image_ms"]["p50"], 0);
  for (const Json& part : totals["parts"]) {
    EXPECT_GT(part["busy_s"], 0);
    EXPECT_GE(part["share"], 0);
    EXPECT_LE(part["share"], 1);
  }
  std::istringstream report(load_text(file("r.ndjson")));
  std::map<std::string, Json> images;
  for (std::string line; std::getline(report, line);) {
    const Json image = Json::parse(line);
    images[image["input"]] = image;
  }
  EXPECT_EQ(images.size(), 6U);
  EXPECT_EQ(images[in() + "/a.png"]["status"], "done");
  EXPECT_EQ(images[in() + "/a.png"]["width_pixels"], 40);
  EXPECT_EQ(images[in() + "/a.png"]["output_bytes"], fs::file_size(out() + "/a.png"));
  EXPECT_EQ(images[in() + "/z.png"]["status"], "failed");
  EXPECT_EQ(load_text(file("failed")), "z.png\n");
  const Json trace = Json::parse(load_text(file("t.json")));
  std::set<std::string> names;
  EXPECT_EQ(trace["schema"], "imgpipe/trace/1");
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    names.insert(event["name"]);
    EXPECT_GE(event["dur"], 0);
    EXPECT_TRUE(event["args"].contains("image"));
  }
  for (const char* name : {"read", "decode", "gray", "hist", "contrast", "smooth", "encode", "write"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST_F(BatchRuns, AReportThatCannotBeWrittenIsSaidBeforeWorkStarts) {
  for (const char* option : {"--report=/dev/full/r.ndjson", "--trace=/nowhere/t.json"}) {
    const RunResult run = run_imgpipe({in(), out(), option});
    EXPECT_EQ(run.exit_code, 4) << run.err;
    EXPECT_EQ(lines(run.err), 1U);
    EXPECT_FALSE(fs::exists(out()));
  }
}

TEST_F(BatchRuns, JobsAndThreadsDoNotChangeABite) {
  ASSERT_EQ(run_imgpipe({in(), file("one"), "--recursive", "-q", "--jobs", "1", "--threads", "1"}).exit_code,
            0);
  const auto expected = contents(file("one"));
  for (const char* jobs : {"2", "3", "16"}) {
    for (const char* device : {"cpu", "reference"}) {
      fs::remove_all(out());
      EXPECT_EQ(run_imgpipe({in(), out(), "--recursive", "-q", "--jobs", jobs, "--device", device}).exit_code,
                0);
      EXPECT_EQ(contents(out()), expected) << jobs << device;
    }
  }
}

// ---- again, and interrupted -------------------------------------------------------------------------

TEST_F(BatchRuns, SkipExistingGoesOnWhereARunEnded) {
  ASSERT_EQ(run_imgpipe({in(), out(), "-q"}).exit_code, 0);
  fs::remove(out() + "/b.jpg");
  save_text(out() + "/a.png", "kept");
  save_text(out() + "/.b.jpg.imgpipe-0a1b2c3d", "left by a run that was killed");
  save_text(out() + "/.other.jpg.imgpipe-0a1b2c3d", "another's");
  save_text(out() + "/.b.jpg.imgpipe-short", "no temporary file");
  const RunResult run = run_imgpipe({in(), out(), "--skip-existing"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("3 images: 1 done, 2 skipped, 0 failed"), std::string::npos) << run.out;
  EXPECT_EQ(load_text(out() + "/a.png"), "kept");
  EXPECT_EQ(written(),
            (Names{".b.jpg.imgpipe-short", ".other.jpg.imgpipe-0a1b2c3d", "a.png", "b.jpg", "c.GIF.ppm"}));
  EXPECT_EQ(run_imgpipe({in(), out(), "--skip-existing", "-q"}).exit_code, 0) << "all skipped is done";
}

TEST_F(BatchRuns, AFullDiskEndsTheBatch) {
  fs::create_directories(out());
  if (::mount("tmpfs", out().c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "mounting a small file system needs more rights";
  fs::create_directory(file("many"));
  for (int i = 0; i < 60; ++i) fs::copy_file(file("in/a.png"), file("many/" + std::to_string(i) + ".ppm"));
  const RunResult run = run_imgpipe({file("many"), out(), "--jobs", "2"});
  const Names names = written();
  ::umount(out().c_str());
  EXPECT_EQ(run.exit_code, 4) << run.err;
  EXPECT_NE(run.err.find("No space left"), std::string::npos) << run.err;
  EXPECT_LE(lines(run.err), 2U) << "one for each of the jobs at most";
  EXPECT_NE(run.out.find("ended early"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("not done"), std::string::npos) << run.out;
  EXPECT_FALSE(names.empty());
  for (const std::string& name : names) EXPECT_EQ(name.find(".imgpipe-"), std::string::npos) << name;
}

TEST_F(BatchRuns, ASignalEndsItInOrder) {
  fs::create_directory(file("many"));
  // So large that each is written as it is made: whoever waits for that comes in time, however busy the
  // machine is.
  write("many/0.png", 1, 110'000);
  for (int i = 1; i < 24; ++i) fs::copy_file(file("many/0.png"), file("many/" + std::to_string(i) + ".png"));
  for (const auto& [signal, code] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}}) {
    fs::remove_all(out());
    fs::create_directories(out());
    RunOptions options;
    options.signal = signal;
    options.signal_folder = out();
    const RunResult run = run_imgpipe(
        {file("many"), out(), "--jobs", "2", "--stages", "smooth", "--report", file("r.json")}, options);
    EXPECT_EQ(run.exit_code, code) << run.err;
    EXPECT_FALSE(run.signalled);
    EXPECT_EQ(run.err, "");
    EXPECT_NE(run.out.find("ended early: signal"), std::string::npos) << run.out;
    const Json report = Json::parse(load_text(file("r.json")));
    EXPECT_EQ(report["done"], written().size());
    EXPECT_GT(report["not_done"], 0);
    for (const std::string& name : written()) {
      EXPECT_EQ(name.find(".imgpipe-"), std::string::npos) << name;
      EXPECT_NO_THROW((void)open_reader(load(out() + "/" + name)));
    }
  }
}

TEST_F(BatchRuns, KilledAndBegunAgainNothingIsLost) {
  fs::create_directory(file("many"));
  for (int i = 0; i < 120; ++i)
    write("many/" + std::to_string(i) + ".png", static_cast<std::uint64_t>(i), 300);
  ASSERT_EQ(run_imgpipe({file("many"), file("whole"), "-q"}).exit_code, 0);
  const auto expected = contents(file("whole"));
  int killed = 0;
  for (int round = 0; round < 8; ++round) {
    fs::remove_all(out());
    fs::create_directories(out());
    RunOptions kill;
    kill.signal = SIGKILL;
    kill.signal_folder = out();
    killed += run_imgpipe({file("many"), out(), "-q", "--jobs", "3"}, kill).exit_code == 137 ? 1 : 0;
    EXPECT_EQ(run_imgpipe({file("many"), out(), "-q", "--skip-existing"}).exit_code, 0);
    EXPECT_EQ(contents(out()), expected);
  }
  EXPECT_GT(killed, 0);
}

// As a shell pattern gives it that matches one file.
TEST_F(BatchRuns, OneImageIntoADirectoryTakesTheOptionsOfBatches) {
  const std::string input = in() + "/a.png";
  ASSERT_EQ(run_imgpipe({input, file("o.png"), "-q"}).exit_code, 0);
  for (const char* option : {"--recursive", "--jobs=2", "--include=*.png", "--exclude=*.jpg",
                             "--skip-existing", "--shard=1/1", "--memory=1G", "--fail-fast"}) {
    const RunResult run = run_imgpipe({input, out() + "/", "-q", option, "--report", file("r.ndjson")});
    ASSERT_EQ(run.exit_code, 0) << option << run.err;
    const Names names = written();
    ASSERT_EQ(names.size(), 1U) << option;
    EXPECT_EQ(load(out() + "/" + names.front()), load(file("o.png"))) << option;
    fs::remove_all(out());
  }
  const RunResult plan = run_imgpipe({input, out() + "/", "-n"});
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_EQ(plan.out.find(input + " -> " + out() + "/a.png\n1 to do"), 0U) << plan.out;
  EXPECT_FALSE(fs::exists(out()));
  expect_refused(run_imgpipe({input, out() + "/", "--exclude", "*.png"}), "no images found");
}

TEST_F(BatchRuns, OneImageIntoADirectoryIsReportedAsAnImage) {
  const std::string input = in() + "/a.png";
  const std::vector<std::string> arguments{
      input,          out() + "/", "--skip-existing", "-j",           "2",         "--memory", "1G",
      "--failed-out", file("f"),   "--report",        file("r.json"), "--compare", "--device", "cpu"};
  RunResult run = run_imgpipe(arguments);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json report = Json::parse(load_text(file("r.json")));
  EXPECT_EQ(report["schema"], "imgpipe/image/1");
  EXPECT_EQ(report["comparison"], "identical");
  EXPECT_EQ(load_text(file("f")), "");
  fs::remove(file("r.json"));
  run = run_imgpipe(arguments);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("a.png: is there already"), std::string::npos) << run.out;
  EXPECT_FALSE(fs::exists(file("r.json"))) << "of an image that was left there is nothing to report";

  save_text(file("bad.png"), "no image");
  run = run_imgpipe({file("bad.png"), out() + "/", "--failed-out", file("f"), "--report", file("r.json")});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("bad.png: "), std::string::npos) << run.err;
  EXPECT_EQ(load_text(file("f")), file("bad.png") + "\n");
}

TEST_F(BatchRuns, OneFileTakesWhatHasAMeaningForIt) {
  const std::string input = in() + "/a.png", output = file("o.jpg");
  RunResult run = run_imgpipe({input, output, "-n"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out.find(input + " -> " + output + "\n1 to do, 0 skipped"), 0U) << run.out;
  EXPECT_FALSE(fs::exists(output));
  run = run_imgpipe({input, output, "--skip-existing", "-j", "2", "--fail-fast", "--memory", "1G", "-q"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto before = load(output);
  run = run_imgpipe({input, output, "--skip-existing", "--stages", "invert"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, output + ": is there already\n");
  EXPECT_EQ(load(output), before);
  save_text(output, "");
  ASSERT_EQ(run_imgpipe({input, output, "--skip-existing", "-q"}).exit_code, 0);
  EXPECT_EQ(load(output), before) << "an empty file is not an output";
}

TEST_F(BatchRuns, StagesNoneConverts) {
  ASSERT_EQ(run_imgpipe({in(), out(), "-q", "--stages", "none", "--format", "tiff"}).exit_code, 0);
  for (const char* device : {"cpu", "reference"}) {
    const RunResult run = run_imgpipe(
        {in() + "/a.png", file("o.tif"), "--stages", "none", "--device", device, "--report", file("r.json")});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(load(file("o.tif")), load(out() + "/a.tif")) << device;
    EXPECT_EQ(Json::parse(load_text(file("r.json")))["options"]["steps"], Json::array());
  }
  const Image converted = decode(load(file("o.tif"))), source = decode(load(in() + "/a.png"));
  EXPECT_EQ(converted.shape(), source.shape());
  EXPECT_EQ(samples(converted), samples(source));
  expect_refused(run_imgpipe({in() + "/a.png", file("x.png"), "--stages", ""}), "none alone converts");
  expect_refused(run_imgpipe({in() + "/a.png", file("x.png"), "--stages", "gray,none"}), "none stands alone");
  EXPECT_EQ(run_imgpipe({in() + "/a.png", file("y.png"), "--stages", " gray, smooth ", "-q"}).exit_code, 0);
}

}  // namespace
}  // namespace imgpipe::test::batch_runs_test
