// The progress of long runs, on stderr and on a terminal.
#include <csignal>
#include <future>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/batch_cli.h"
#include "tests/support/tiff_file.h"

namespace imgpipe::test::log_cli_test {
namespace {

using Json = nlohmann::json;

class LogCli : public BatchCli {
 protected:
  // Parses every line of `err`, each of which must match the schema.
  [[nodiscard]] static std::vector<Json> objects(const std::string& err) {
    std::vector<Json> all;
    std::istringstream stream(err);
    for (std::string line; std::getline(stream, line);) {
      Json json = Json::parse(line, nullptr, false);
      EXPECT_FALSE(json.is_discarded()) << line;
      if (json.is_discarded()) continue;
      EXPECT_EQ(json.value("schema", ""), "imgpipe/log/1") << line;
      all.push_back(std::move(json));
    }
    EXPECT_TRUE(err.empty() || err.ends_with('\n')) << err;
    return all;
  }
};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// ---- progress -------------------------------------------------------------------------------------------

// A run stopped for ten seconds counts as long, because the clock continues.
TEST_F(LogCli, LongRunReportsProgress) {
  fs::create_directory(file("many"));
  write("many/000.png", 1, 3000);
  for (int i = 1; i < 400; ++i)
    fs::create_symlink(file("many/000.png"), file("many/") + std::to_string(i) + ".png");
  const auto stopped_for = [&](int seconds, const std::string& name, const std::string& options) {
    const std::string directory = file(name);
    fs::create_directory(directory);
    const std::string line =
        "$I ../many out --jobs 1 --threads 1 --device reference " + options +
        " >table 2>err & run=$!\n"
        "for look in $(seq 500); do ls out 2>/dev/null | grep -q png && break; sleep 0.02; done\n"
        "kill -STOP $run; sleep " +
        std::to_string(seconds) + "; kill -CONT $run; sleep 1; kill -TERM $run; wait $run";
    const int code = run_bash(line, directory);
    std::string text = load_text(directory + "/err");
    EXPECT_EQ(code, 128 + SIGTERM) << text;
    return text;
  };
  // Both long runs at once, as each takes 11 seconds.
  auto json = std::async(std::launch::async, stopped_for, 10, "json", "--log-format json");
  const std::string text = stopped_for(10, "text", "");
  EXPECT_EQ(count(text, " of 400 images: "), 1U) << text;
  EXPECT_EQ(lines(text), 1U) << text;
  EXPECT_EQ(stopped_for(1, "short", ""), "") << "a short run";
  const std::vector<Json> all = objects(json.get());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["event"], "progress");
  EXPECT_EQ(all[0]["progress"]["total"], 400);
  EXPECT_GE(all[0]["progress"]["seconds"], 10);
  EXPECT_EQ(all[1]["event"], "summary");
}

// Shows a command's terminal output; $I stands for the program.
TEST_F(LogCli, TerminalShowsProgress) {
  if (run_bash("command -v script >/dev/null", directory_.path().string()) != 0)
    GTEST_SKIP() << "script(1), which gives a command a terminal, is not installed";
  const auto shown = [&](const std::string& command) {
    const std::string line = "script -qec \"" + command + "\" /dev/null </dev/null >shown";
    EXPECT_EQ(run_bash(line, directory_.path().string()), 0) << load_text(file("shown"));
    return load_text(file("shown"));
  };
  const TiffKind kind{.width = 5, .height = 4, .bits = 8, .samples = 1, .photometric = 1};
  save(file("stack.tif"), make_tiff_stack(std::vector<TiffPageSource>(6, {kind, Values(20, 7)})));
  const std::string bar = "[                    ] 0/6";
  const std::string one_pass = shown("$I stack.tif o.tif --pages all");
  EXPECT_EQ(count(one_pass, bar), 1U) << one_pass;
  EXPECT_EQ(count(one_pass, "pass "), 0U) << one_pass;
  EXPECT_LT(one_pass.find(bar), one_pass.rfind("\r\x1b[K")) << "the bar is removed before the table";
  const std::string two = shown("$I stack.tif o.tif --pages all --stages contrast:range=series");
  for (const char* pass : {"pass 1 of 2: ", "pass 2 of 2: "}) EXPECT_EQ(count(two, pass + bar), 1U) << two;
  EXPECT_EQ(count(shown("$I stack.tif o.tif --pages all -q"), "0/6"), 0U);
  EXPECT_EQ(count(shown("$I stack.tif o.tif --pages all --log-format json"), "0/6"), 0U);
  EXPECT_EQ(count(shown("$I stack.tif o.tif --pages 2"), "0/1"), 0U) << "one page is soon done";
  const std::string bench = "$I bench --device cpu --stage gray --size 9x9 --repeat 3";
  const std::string timing = "timing gray, photo 9x9: sequential on reference, 1 of 2";
  EXPECT_EQ(count(shown(bench), timing), 1U) << shown(bench);
  EXPECT_EQ(count(shown(bench + " -q"), "timing"), 0U);
}

}  // namespace
}  // namespace imgpipe::test::log_cli_test
