// Tests files that grow during a run: several processes write at once, a writer is killed, the disk is full.
#include <map>
#include <sstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/files/complete_file.h"
#include "app/files/growing_file.h"
#include "images/error.h"
#include "tests/support/batch_cli.h"

namespace imgpipe::test::growing_files_test {
namespace {

using Json = nlohmann::json;

bool keep_all(std::string_view) {
  return true;
}

std::string reason_of(const auto& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::output);
    return error.what();
  }
  return "";
}

class GrowingFiles : public BatchCli {
 protected:
  void SetUp() override {
    fs::create_directory(in());
    for (int i = 0; i < kImages; ++i) write("in/" + std::to_string(i) + ".png", 1, 20);
  }
  static constexpr int kImages = 60;

  // Returns the last status of each input; every line must have one.
  [[nodiscard]] std::map<std::string, std::string> states() const {
    std::map<std::string, std::string> found;
    std::istringstream report(load_text(file("r.ndjson")));
    for (std::string line; std::getline(report, line);) {
      const Json json = Json::parse(line, nullptr, false);
      EXPECT_TRUE(json.is_object()) << line.substr(0, 200);
      if (json.is_object()) found[json["input"]] = json["status"];
    }
    return found;
  }
};

TEST_F(GrowingFiles, ConcurrentWritersLoseNoLines) {
  constexpr int kProcesses = 6, kLines = 400;
  std::vector<pid_t> processes;
  for (int process = 0; process < kProcesses; ++process) {
    processes.push_back(::fork());
    if (processes.back() != 0) continue;
    GrowingFile lines_of(file("lines"), keep_all);
    // Some lines are longer than a page, some longer than the buffer.
    for (int i = 0; i < kLines; ++i) {
      const std::size_t length = i % 100 == 99 ? 200'000 : static_cast<std::size_t>(i) * 37 % 9000;
      lines_of.add(std::to_string(process) + " " + std::to_string(i) + " " + std::string(length, 'x') +
                   " end\n");
      lines_of.flush();
    }
    lines_of.close();
    ::_exit(0);
  }
  for (const pid_t process : processes) {
    int status = 0;
    ::waitpid(process, &status, 0);
    EXPECT_EQ(status, 0);
  }
  std::map<int, int> next;
  std::istringstream text(load_text(file("lines")));
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    int process = -1, number = -1;
    std::string xs, end;
    words >> process >> number >> xs;
    if (!(words >> end)) std::swap(xs, end);
    ASSERT_EQ(end, "end") << line.substr(0, 100);
    EXPECT_EQ(number, next[process]++);
  }
  EXPECT_EQ(next.size(), std::size_t{kProcesses});
  for (const auto& [process, count] : next) EXPECT_EQ(count, kLines) << process;
}

TEST_F(GrowingFiles, RemovesATornLineOfAKilledProcess) {
  GrowingFile first(file("lines"));
  first.add("one\n");
  first.flush();
  for (const std::size_t length : {1U, 70'000U, 200'000U}) {
    {
      const int killed = ::open(file("lines").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
      const std::string half(length, 'h');
      ASSERT_EQ(::write(killed, half.data(), half.size()), static_cast<ssize_t>(length));
      ::close(killed);
    }
    first.add("next\n");
    first.flush();
  }
  first.close();
  EXPECT_EQ(load_text(file("lines")), "one\nnext\nnext\nnext\n");
  save_text(file("lines"), "half");
  GrowingFile second(file("lines"), keep_all);
  second.add("whole\n");
  second.close();
  EXPECT_EQ(load_text(file("lines")), "whole\n");
}

TEST_F(GrowingFiles, DoesNotWaitForAnotherWriterUnlessTheBufferIsFull) {
  GrowingFile waits(file("lines"));
  const int other = ::open(file("lines").c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  waits.add("one\n");
  waits.flush();
  EXPECT_EQ(load_text(file("lines")), "");
  ::close(other);
  waits.flush();
  EXPECT_EQ(load_text(file("lines")), "one\n");
  waits.close();
}

TEST_F(GrowingFiles, ReportsARemovedFile) {
  GrowingFile lines_of(file("lines"));
  lines_of.add("one\n");
  fs::remove(file("lines"));
  EXPECT_NE(
      reason_of([&] { lines_of.close(); }).find("another process removed it while it was being written"),
      std::string::npos);
  CompleteFile complete(file("all"), "[", "]");
  fs::remove(file("all"));
  EXPECT_NE(
      reason_of([&] { complete.close(); }).find("another process removed it while it was being written"),
      std::string::npos);
}

TEST_F(GrowingFiles, FullDiskLeavesCompleteLines) {
  fs::create_directory(file("small"));
  if (::mount("tmpfs", file("small").c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "mounting a small file system needs more rights";
  const std::string line = std::string(999, 'x') + "\n";
  const auto fill = [&](auto& file_of) {
    for (int i = 0; i < 200; ++i) {
      file_of.add(line);
      file_of.flush();
    }
  };
  std::string whole, all;
  {
    GrowingFile lines_of(file("small/lines"));
    EXPECT_NE(reason_of([&] { fill(lines_of); }).find("No space left"), std::string::npos);
    whole = load_text(file("small/lines"));
  }
  fs::remove(file("small/lines"));
  {
    CompleteFile complete(file("small/all"), "[\n", "]\n");
    EXPECT_NE(reason_of([&] { fill(complete); }).find("No space left"), std::string::npos);
    all = load_text(file("small/all"));
  }
  ::umount(file("small").c_str());
  EXPECT_GT(whole.size(), 20'000U);
  EXPECT_EQ(whole.size() % line.size(), 0U);
  EXPECT_GT(all.size(), 20'000U);
  EXPECT_EQ((all.size() - 4) % line.size(), 0U);
  EXPECT_TRUE(all.ends_with("x\n]\n"));
}

TEST_F(GrowingFiles, IsCompleteAtEveryMoment) {
  CompleteFile complete(file("all"), "[", "]\n");
  EXPECT_EQ(load_text(file("all")), "[]\n");
  complete.add("1");
  EXPECT_EQ(load_text(file("all")), "[]\n");
  complete.flush();
  EXPECT_EQ(load_text(file("all")), "[1]\n");
  complete.add(",2");
  complete.close();
  EXPECT_EQ(load_text(file("all")), "[1,2]\n");
  CompleteFile null("/dev/null", "[", "]\n");
  null.add("1");
  null.close();
  EXPECT_NE(reason_of([] { CompleteFile("/dev/full", "[", "]").close(); }).find("No space"),
            std::string::npos);
  EXPECT_NE(reason_of([&] { CompleteFile(file("no/all"), "[", "]"); }).find("no/all"), std::string::npos);
}

// ---- the program ------------------------------------------------------------------------------------

TEST_F(GrowingFiles, ShardsShareOneReport) {
  std::string line;
  for (int i = 1; i <= 4; ++i)
    line += "\"$I\" in out -q --jobs 2 --report r.ndjson --shard " + std::to_string(i) + "/4 2>> wrong & ";
  for (int round = 1; round <= 3; ++round) {
    EXPECT_EQ(run_bash(line + "wait", directory_.path().string()), 0);
    const auto all = states();
    EXPECT_EQ(all.size(), std::size_t{kImages}) << load_text(file("wrong"));
    for (const auto& [name, state] : all) EXPECT_EQ(state, "done") << name;
    EXPECT_EQ(lines(load_text(file("r.ndjson"))), std::size_t{kImages} * static_cast<std::size_t>(round));
  }
  const auto run = [&](const std::string& options) {
    return run_bash("\"$I\" in out -q --report r.ndjson " + options + " 2>> wrong",
                    directory_.path().string());
  };
  // A shard that is queued again does not empty the report; a run without --shard does.
  EXPECT_EQ(run("--shard 2/4 --skip-existing --no-clobber"), 0);
  EXPECT_EQ(lines(load_text(file("r.ndjson"))), std::size_t{kImages} * 3);
  EXPECT_EQ(run(""), 0);
  EXPECT_EQ(lines(load_text(file("r.ndjson"))), std::size_t{kImages});
  // A file that is not a report is replaced only with --overwrite. The first shard replaces it; the others
  // append to the new report.
  save_text(file("r.ndjson"), "another program's\n");
  EXPECT_EQ(run("--shard 1/4"), 2);
  for (const char* shard : {"1/4", "2/4", "3/4", "4/4"})
    EXPECT_EQ(run("--overwrite --shard " + std::string(shard)), 0);
  EXPECT_EQ(states().size(), std::size_t{kImages});
}

// The first shard gets the name; the others report an error before they do any work.
TEST_F(GrowingFiles, ShardsDoNotReplaceOneAnothersReports) {
  for (const char* option : {"--report r.json", "--trace t.json"}) {
    std::string line = "rm -rf out codes; ";
    for (int i = 1; i <= 4; ++i) {
      line += "{ \"$I\" in out -q " + std::string(option) + " --shard " + std::to_string(i) +
              "/4 2>> wrong; echo $? >> codes; } & ";
    }
    EXPECT_EQ(run_bash(line + "wait; sort codes | tr -d '\\n' > sorted", directory_.path().string()), 0);
    EXPECT_EQ(load_text(file("sorted")), "0222") << load_text(file("wrong"));
    EXPECT_NE(load_text(file("wrong")).find("give each shard its own file"), std::string::npos);
  }
  // A shard may write its report again, with any number of shards. With --overwrite, any shard may.
  const std::string own =
      Json::parse(load_text(file("r.json")))["options"]["shard"].get<std::string>().substr(0, 1);
  EXPECT_EQ(run_imgpipe({in(), out(), "-q", "--report", file("r.json"), "--shard", own + "/5"}).exit_code, 0);
  EXPECT_EQ(
      run_imgpipe({in(), out(), "-q", "--overwrite", "--report", file("r.json"), "--shard", "5/5"}).exit_code,
      0);
  EXPECT_EQ(Json::parse(load_text(file("r.json")))["options"]["shard"], "5/5");
}

TEST_F(GrowingFiles, ShardsShareOneFailureList) {
  std::string expected;
  for (int i = 10; i < 22; ++i) {
    save_text(file("in/bad" + std::to_string(i) + ".png"), "no image");
    expected += "bad" + std::to_string(i) + ".png\n";
  }
  std::string line;
  for (int i = 1; i <= 4; ++i)
    line += "\"$I\" in out -q --failed-out failed --shard " + std::to_string(i) + "/4 2>> wrong & ";
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(run_bash(line + "wait", directory_.path().string()), 0);
    EXPECT_EQ(load_text(file("failed")), expected);
  }
  // An input that succeeds leaves the list, whichever shard processes it. The list may also be the input.
  for (int i = 12; i < 22; ++i)
    fs::copy_file(in() + "/0.png", in() + "/bad" + std::to_string(i) + ".png",
                  fs::copy_options::overwrite_existing);
  std::string again = line;
  for (std::size_t at = 0; (at = again.find("--shard", at)) != std::string::npos; at += 30)
    again.insert(at, "--files-from failed ");
  EXPECT_EQ(run_bash(again + "wait", directory_.path().string()), 0);
  EXPECT_EQ(load_text(file("failed")), "bad10.png\nbad11.png\n") << load_text(file("wrong"));
}

}  // namespace
}  // namespace imgpipe::test::growing_files_test
