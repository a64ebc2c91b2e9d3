// The stamp file: lines, reading a torn, hostile or large file, compaction while others append.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "app/update/stamp_file.h"
#include "app/update/up_to_date.h"
#include "images/error.h"
#include "images/text.h"
#include "tests/support/files.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::stamps_test {
namespace {

Stamp stamp(const std::string& output, std::int64_t number = 1) {
  return {.output = output,
          .output_state = {number, 1'700'000'000'000'000'000 + number},
          .input = "../in/" + output,
          .input_state = {2 * number, -number},
          .options_digest = std::string(64, 'a'),
          .version = "0.1.0"};
}

class Stamps : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return directory_.file(std::string(kStampFile)); }
  [[nodiscard]] std::map<std::string, std::int64_t> read() const {
    std::map<std::string, std::int64_t> newest;
    read_stamps(path(), [&](const Stamp& found) { newest[found.output] = found.output_state.bytes; });
    return newest;
  }
  [[nodiscard]] std::size_t lines() const {
    const std::string text = load_text(path());
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }

  TemporaryDirectory directory_;
};

TEST_F(Stamps, RoundTripsALine) {
  const Stamp whole = stamp("sub/a.png", 77);
  const std::string line = stamp_line(whole);
  EXPECT_EQ(line.back(), '\n');
  EXPECT_EQ(
      line.rfind("{\"imgpipe\":\"0.1.0\",\"schema\":\"imgpipe/update-line/1\",\"output\":\"sub/a.png\"", 0),
      0U);
  const std::optional<Stamp> back = stamp_of_line(line.substr(0, line.size() - 1));
  ASSERT_TRUE(back);
  EXPECT_EQ(stamp_line(*back), line);
}

TEST_F(Stamps, NamesAreEscapedUniquely) {
  EXPECT_EQ(stamp_name("Größe 大.png"), "Größe 大.png");
  EXPECT_EQ(stamp_name("a\xFF.png"), "a\\xFF.png");
  EXPECT_NE(stamp_name("a\xFF.png"), stamp_name("a\\xFF.png"));
  EXPECT_EQ(stamp_name("a\nb"), "a\\x0Ab");
}

TEST_F(Stamps, InputPathsAreNotNormalised) {
  std::filesystem::create_directories(directory_.path() / "x/in/sub");
  std::filesystem::create_directories(directory_.path() / "x/out");
  StampNames names(directory_.file("x/out"));
  EXPECT_EQ(names.input(directory_.file("x/in/sub/a.jpg")), "../in/sub/a.jpg");
  EXPECT_EQ(names.input(directory_.file("x/out/../in/./sub/a.jpg")), "../in/sub/a.jpg");
  EXPECT_EQ(names.output(directory_.file("x/out/sub/a.png")), "sub/a.png");
  EXPECT_EQ(StampNames("out/").output("out/sub/a.png"), "sub/a.png");
  EXPECT_EQ(StampNames("").output("a.png"), "a.png");
  EXPECT_EQ(StampNames(".").output("./a.png"), "a.png");
}

TEST_F(Stamps, SkipsInvalidLines) {
  EXPECT_TRUE(read().empty()) << "there is none";
  const std::string good = stamp_line(stamp("a.png", 5));
  std::string torn = stamp_line(stamp("torn.png"));
  torn.resize(torn.size() / 2);
  std::string text = good;
  for (const std::string& bad :
       {std::string("{}"), std::string("[1"), std::string(1000, '['), std::string("null"),
        std::string("{\"imgpipe\":1}"), std::string("\xFF\x00\x01", 3), std::string(200'000, '{'),
        std::string(3'000'000, 'x'), torn,
        std::string("{\"imgpipe\":\"0.1.0\",\"schema\":\"imgpipe/update-line/1\",\"output\":7}")})
    text += bad + "\n";
  std::string wrong = good;
  wrong.replace(wrong.find("\"output_bytes\":5"), 16, "\"output_bytes\":1e9");
  text += wrong + stamp_line(stamp("b.png", 6)) + torn;
  save_text(path(), text);
  EXPECT_EQ(read(), (std::map<std::string, std::int64_t>{{"a.png", 5}, {"b.png", 6}}));
  EXPECT_EQ(load_text(path()), text) << "reading alone changes nothing";
  // An added line does not become part of the torn line.
  GrowingFile file = open_stamps(path());
  file.add(stamp_line(stamp("c.png", 7)));
  file.close();
  EXPECT_EQ(read().size(), 3U);
}

TEST_F(Stamps, LastLineWins) {
  save_text(path(),
            stamp_line(stamp("a.png", 1)) + stamp_line(stamp("b.png", 2)) + stamp_line(stamp("a.png", 3)));
  EXPECT_EQ(read(), (std::map<std::string, std::int64_t>{{"a.png", 3}, {"b.png", 2}}));
}

TEST_F(Stamps, LinesAcrossBlocksAreWhole) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += stamp_line(stamp("folder/" + std::to_string(i) + ".png", i));
  ASSERT_GT(text.size(), std::size_t{3} << 20);
  save_text(path(), text);
  const auto found = read();
  ASSERT_EQ(found.size(), 20'000U);
  for (int i = 0; i < 20'000; ++i) EXPECT_EQ(found.at("folder/" + std::to_string(i) + ".png"), i);
  EXPECT_EQ(load_text(path()), text) << "all are of use";
}

TEST_F(Stamps, CompactsMostlyStaleFiles) {
  std::string text;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 100; ++i) text += stamp_line(stamp(std::to_string(i) + ".png", 1000 * round + i));
  }
  save_text(path(), text + "garbage\n");
  const auto first = read();
  compact_stamps(path(), true);
  EXPECT_EQ(lines(), 100U);
  EXPECT_EQ(first.at("7.png"), 4007);
  EXPECT_EQ(read(), first);
  EXPECT_EQ(load_text(path()), text.substr(text.size() - load_text(path()).size()));
  // Not compacted: only half of the lines are outdated, and the file is short.
  save_text(path(), text.substr(0, text.size() * 2 / 5));
  const std::size_t before = lines();
  compact_stamps(path(), true);
  EXPECT_EQ(lines(), before);
}

TEST_F(Stamps, DropsMissingOutputs) {
  std::string text;
  for (int i = 0; i < 600; ++i) text += stamp_line(stamp(std::to_string(i) + ".png", i));
  save_text(path(), text);
  for (int i = 0; i < 50; ++i) save_text(directory_.file(std::to_string(i) + ".png"), "x");
  compact_stamps(path(), true);
  EXPECT_EQ(lines(), 600U) << "others may just be making them";
  compact_stamps(path(), false);
  EXPECT_EQ(lines(), 50U);
  EXPECT_EQ(read().size(), 50U);
}

TEST_F(Stamps, KillDuringCompactionLosesAtMostOneEntry) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += stamp_line(stamp("same.png", i));
  for (int i = 0; i < 50; ++i) text += stamp_line(stamp(std::to_string(i) + ".png", i));
  save_text(path(), text);
  compact_stamps(path(), true);
  ASSERT_EQ(read().size(), 51U);
  const std::string moved = load_text(path());
  ASSERT_EQ(lines(), 51U);
  for (std::size_t done = 0; done < moved.size(); done += kSanitized ? 370 : 37) {
    save_text(path(), moved.substr(0, done) + text.substr(done));
    const auto found = read();
    EXPECT_GE(found.size(), 50U) << done;
    for (int i = 0; i < 50; ++i) {
      const auto entry = found.find(std::to_string(i) + ".png");
      EXPECT_TRUE(entry == found.end() || entry->second == i) << done << " " << i;
    }
  }
}

TEST_F(Stamps, ConcurrentWritersAndReadersLoseNothing) {
  constexpr int kWriters = 3, kRounds = 400;
  std::atomic<int> at_work = kWriters;
  std::vector<std::thread> threads;
  threads.reserve(kWriters);
  for (int writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] {
      GrowingFile file = open_stamps(path());
      for (int round = 0; round < kRounds; ++round) {
        for (int i = 0; i < 5; ++i)
          file.add(stamp_line(stamp(std::to_string(writer) + "_" + std::to_string(i) + ".png", round)));
        file.flush();
      }
      file.close();
      --at_work;
    });
  }
  while (at_work > 0) {
    compact_stamps(path(), true);
  }
  for (std::thread& thread : threads) thread.join();
  const auto found = read();
  EXPECT_EQ(found.size(), std::size_t{5} * kWriters);
  for (const auto& [output, bytes] : found) EXPECT_EQ(bytes, kRounds - 1) << output;
  compact_stamps(path(), true);
  EXPECT_EQ(read(), found);
  EXPECT_LT(lines(), 256U);
}

TEST_F(Stamps, ForeignFileIsNotReplaced) {
  save_text(path(), "my own notes\n");
  EXPECT_THROW(check_stamp_file(path(), Replace::own), Error);
  check_stamp_file(path(), Replace::all);
  open_stamps(path()).close();
  EXPECT_EQ(load_text(path()), "");
  check_stamp_file(path(), Replace::own);
  std::filesystem::remove(path());
  check_stamp_file(path(), Replace::own);
  std::filesystem::create_directory(path());
  EXPECT_THROW(check_stamp_file(path(), Replace::all), Error);
  std::filesystem::remove(path());
  std::filesystem::create_symlink("/dev/zero", path());
  EXPECT_THROW(check_stamp_file(path(), Replace::all), Error);
}

}  // namespace
}  // namespace imgpipe::test::stamps_test
