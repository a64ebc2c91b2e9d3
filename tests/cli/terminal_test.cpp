// Limits of the system and the terminal: few threads, narrow windows.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/support/decoding.h"
#include "tests/support/files.h"
#include "tests/support/process.h"
#include "tests/support/test_paths.h"

namespace imgpipe::test::terminal_test {
namespace {

namespace fs = std::filesystem;

class Terminal : public testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& name) const { return directory_.file(name); }
  [[nodiscard]] int bash(const std::string& line) const { return run_bash(line, directory_.path().string()); }

  TemporaryDirectory directory_;
};

// ---- threads ------------------------------------------------------------------------------------------

// The system limits processes and threads. Root has no such limit, so it switches to an unprivileged user.
TEST_F(Terminal, FewerThreadsThanRequestedAreAccepted) {
  const bool root = ::geteuid() == 0;
  if (root && bash("setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null") != 0)
    GTEST_SKIP() << "root has no limit of processes and cannot become another user";
  fs::permissions(directory_.path(), fs::perms::all);
  fs::copy_file(kProgram, file("imgpipe"));
  ASSERT_EQ(bash("$I synth s.png --pattern photo --size 40x30 -q"), 0);
  ASSERT_EQ(bash("mkdir -m 777 in && cp s.png in/a.png && cp s.png in/b.png && $I s.png want.png -q"), 0);
  const auto limited = [&](int limit, const std::string& arguments) {
    // LeakSanitizer would need another process, so it is disabled.
    const std::string line = "export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0; ulimit -u " +
                             std::to_string(limit) + "; exec ./imgpipe " + arguments;
    const std::string user = root ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
    return bash(user + "bash -c '" + line + "' >out.txt 2>err.txt");
  };
  for (const int limit : {1, 2, 3, 4, 6}) {
    for (const char* options :
         {"", "--threads 8", "--threads 3 --cpu --repeat 2", "--device reference --threads 2", "--threads 1",
          "--keep-stages kept --histogram h.svg"}) {
      const std::string arguments = "s.png o.png " + std::string(options);
      EXPECT_EQ(limited(limit, arguments), 0) << limit << ": " << options << load_text(file("err.txt"));
      EXPECT_EQ(load_text(file("err.txt")), "") << options;
      EXPECT_EQ(load_text(file("o.png")), load_text(file("want.png"))) << options;
    }
    EXPECT_EQ(limited(limit, "in out/ -q --jobs 3 --threads 5"), 0) << limit << load_text(file("err.txt"));
    for (const char* name : {"out/a.png", "out/b.png"})  // the marks differ, because they hold the names
      EXPECT_EQ(samples(decode(load(file(name)))), samples(decode(load(file("want.png"))))) << name;
  }
}

// ---- help ---------------------------------------------------------------------------------------------

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    longest = std::max(longest, end - at);
  }
  return longest;
}

std::string unwrapped(const std::string& text) {
  std::istringstream in(text);
  std::string words;
  for (std::string word; in >> word;) words += word + " ";
  return words;
}

TEST_F(Terminal, HelpHasTheEnvironmentsWidth) {
  const std::pair<const char*, std::size_t> widths[]{{"40", 40},   {"59", 59},
                                                     {"60", 60},   {"80", 80},
                                                     {"97", 97},   {"120", 120},
                                                     {"250", 120}, {"1", 40},
                                                     {"0", 80},    {"-50", 80},
                                                     {"wide", 80}, {"", 80},
                                                     {"80x", 80},  {"9999999999999999999", 80}};
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"--help"}, {"bench", "-h"}, {"synth", "-h"}, {"devices", "-h"}}) {
    const std::string plain = run_imgpipe(arguments).out;
    EXPECT_LE(longest_line(plain), 80U) << "no terminal";
    for (const auto& [columns, width] : widths) {
      RunOptions options;
      options.environment["COLUMNS"] = columns;
      const RunResult run = run_imgpipe(arguments, options);
      EXPECT_LE(longest_line(run.out), width) << columns << "\n" << run.out;
      if (arguments.front() != "devices") {
        EXPECT_GT(longest_line(run.out), width - 12) << columns << ": it uses the width";
      }
      EXPECT_EQ(unwrapped(run.out), unwrapped(plain)) << columns;
    }
  }
}

TEST_F(Terminal, HelpHasTheTerminalsWidth) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  ASSERT_TRUE(::grantpt(terminal) == 0 && ::unlockpt(terminal) == 0);
  const winsize size{24, 66, 0, 0};
  ASSERT_EQ(::ioctl(terminal, TIOCSWINSZ, &size), 0);
  const std::string name = ::ptsname(terminal);
  // Held open here, so that the output stays until it is read.
  const int held = ::open(name.c_str(), O_RDWR | O_NOCTTY);
  int code = -1;
  std::thread program([&] {
    code = bash("unset COLUMNS; $I --help >" + name + "; code=$?; printf '\\1' >" + name + "; exit $code");
  });
  std::string text;
  for (char buffer[4096]; !text.ends_with('\1');) {
    const ssize_t got = ::read(terminal, buffer, sizeof buffer);
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  program.join();
  ::close(held);
  ::close(terminal);
  EXPECT_EQ(code, 0);
  std::erase(text, '\r');
  EXPECT_LE(longest_line(text), 66U) << text;
  EXPECT_GT(longest_line(text), 58U);
}

}  // namespace
}  // namespace imgpipe::test::terminal_test
