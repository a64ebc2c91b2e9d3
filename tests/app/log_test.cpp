// Log lines as JSON, and progress lines by a clock that the test sets.
#include "app/log.h"

#include <chrono>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "app/log_line.h"
#include "app/log_subject.h"
#include "app/options/logging_options.h"
#include "app/progress.h"
#include "tests/support/files.h"

namespace imgpipe::test::log_test {
namespace {

using Json = nlohmann::json;
using namespace std::chrono_literals;

std::chrono::system_clock::time_point at(int year, unsigned month, unsigned day,
                                         std::chrono::milliseconds more) {
  return std::chrono::sys_days(std::chrono::year(year) / static_cast<int>(month) / static_cast<int>(day)) +
         more;
}

TEST(LogTime, IsUtcWithMilliseconds) {
  EXPECT_STREQ(time_text(at(2026, 11, 23, 2h + 35min + 9s + 7ms)).data(), "2026-11-23T02:35:09.007Z");
  EXPECT_STREQ(time_text(at(2024, 2, 29, 24h - 1ms)).data(), "2024-02-29T23:59:59.999Z");
  EXPECT_STREQ(time_text(at(1970, 1, 1, 0ms)).data(), "1970-01-01T00:00:00.000Z");
  EXPECT_STREQ(time_text(at(1970, 1, 1, -1ms)).data(), "1969-12-31T23:59:59.999Z");
  EXPECT_STREQ(time_text(at(2026, 11, 23, 1ms) + 999us).data(), "2026-11-23T00:00:00.001Z") << "rounded down";
}

TEST(LogLine, HasEveryKey) {
  const LogSubject subject{.input = "a.png", .output = "b.png", .reason = "PNG: CRC error"};
  const Json json = Json::parse(json_line({.level = "error",
                                           .event = "message",
                                           .message = "a.png: PNG: CRC error",
                                           .subject = &subject,
                                           .counts = {}},
                                          at(2026, 11, 23, 0ms)));
  EXPECT_EQ(json, Json::parse(R"({"schema": "imgpipe/log/1", "time": "2026-11-23T00:00:00.000Z",
      "level": "error", "event": "message", "message": "a.png: PNG: CRC error", "input": "a.png",
      "output": "b.png", "reason": "PNG: CRC error", "progress": null})"));
  const Json bare = Json::parse(
      json_line({.level = "info", .event = "message", .message = "", .subject = {}, .counts = {}}, {}));
  EXPECT_EQ(bare.size(), json.size());
  for (const char* key : {"input", "output", "reason", "progress"}) EXPECT_TRUE(bare[key].is_null()) << key;
}

TEST(LogLine, HasTheCounts) {
  const RunCounts counts{
      .total = 500, .done = 118, .failed = 2, .skipped = 10, .pixels = 59'000'000, .seconds = 4};
  const Json json = Json::parse(json_line(
      {.level = "info", .event = "progress", .message = "m", .subject = {}, .counts = &counts}, {}));
  EXPECT_EQ(json["progress"], Json::parse(R"({"done": 118, "failed": 2, "skipped": 10, "total": 500,
      "seconds": 4.0, "images_per_s": 29.5, "megapixels_per_s": 14.75})"));
  EXPECT_EQ(RunCounts().images_per_s(), 0) << "no time has passed";
}

TEST(Progress, CountsPages) {
  RunCounts pages{.total = 48, .done = 12, .pixels = 27'000'000, .seconds = 6, .unit = "pages"};
  EXPECT_EQ(progress_text(pages),
            "12 of 48 pages: 12 done, 0 skipped, 0 failed, 2.0 pages/s, 4.5 MP/s, 0:18 left");
  EXPECT_EQ(progress_bar(pages, 200), "[=====               ] 12/48  2.0 pages/s  4.5 MP/s  0:18 left");
  pages.pass = "pass 1 of 2";
  EXPECT_TRUE(progress_text(pages).starts_with("pass 1 of 2: 12 of 48 pages: ")) << progress_text(pages);
  EXPECT_TRUE(progress_bar(pages, 200).starts_with("pass 1 of 2: [=====  "));
  EXPECT_EQ(progress_bar(pages, 20), "pass 1 of 2: [===== ");
  // The end of a stream is unknown until it is reached.
  pages = {.done = 12, .pixels = 27'000'000, .seconds = 6, .unit = "pages"};
  EXPECT_EQ(progress_text(pages), "12 pages: 12 done, 0 skipped, 0 failed, 2.0 pages/s, 4.5 MP/s");
  EXPECT_EQ(progress_bar(pages, 200), "12 pages  2.0 pages/s  4.5 MP/s");
  const LogLine line{.level = "info", .event = "progress", .message = "m", .subject = {}, .counts = &pages};
  EXPECT_EQ(Json::parse(json_line(line, {}))["progress"]["total"], 12);
}

// Text should already be printable here, but any text yields one line of valid JSON.
TEST(LogLine, IsJsonForAnyText) {
  std::string every;
  for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
  for (const std::string& text : {every, std::string("\xff\xfe"), std::string("\"\\\n\r\t\0x", 7),
                                  std::string("\xed\xa0\x80"), std::string("caf\xc3\xa9")}) {
    const LogSubject subject{text, text, text};
    const std::string line = json_line(
        {.level = "error", .event = "message", .message = text, .subject = &subject, .counts = {}}, {});
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const Json json = Json::parse(line, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << line;
    EXPECT_EQ(json["message"], json["input"]);
  }
}

// A line logged when memory is exhausted has the same keys.
TEST(Log, LogsALineWithoutMemory) {
  const TemporaryDirectory directory;
  const auto said = [&](LogFormat format) {
    set_up_log({.log_format = format});
    const int kept = ::dup(STDERR_FILENO);
    const int file = ::open(directory.file("said").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(file, STDERR_FILENO);
    log_error_without_memory("not enough memory");
    ::dup2(kept, STDERR_FILENO);
    ::close(file);
    ::close(kept);
    set_up_log({});
    return load_text(directory.file("said"));
  };
  EXPECT_EQ(said(LogFormat::text), "imgpipe: not enough memory\n");
  const Json json = Json::parse(said(LogFormat::json), nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  Json usual = Json::parse(json_line(
      {.level = "error", .event = "message", .message = "not enough memory", .subject = {}, .counts = {}},
      {}));
  EXPECT_EQ(json["time"].get<std::string>().size(), usual["time"].get<std::string>().size());
  usual["time"] = json["time"];
  EXPECT_EQ(json, usual);
}

TEST(LogSubject, ReasonsOmitThePath) {
  EXPECT_EQ(subject_of("a: b: c", "a", "x").reason, "b: c");
  EXPECT_EQ(subject_of("x: full", "a", "x").reason, "full");
  EXPECT_EQ(subject_of("a, page 3: cut", "a", "x").reason, "page 3: cut");
  EXPECT_EQ(subject_of("ab: c", "a", "x").reason, "ab: c") << "another file";
  EXPECT_EQ(subject_of(": c", "", "").reason, ": c") << "no path is none";
  EXPECT_EQ(subject_of(Error(ErrorKind::usage, "--stages: no"), "a", "x").input, "") << "about no image";
  EXPECT_EQ(subject_of(Error(ErrorKind::usage, "a: too small"), "a", "x").reason, "too small");
  EXPECT_EQ(subject_of(Error(ErrorKind::device, "no device"), "a", "x").output, "x");
}

// ---- progress -------------------------------------------------------------------------------------------

class Lines {
 public:
  explicit Lines(Progress::Way way)
      : progress_(way, [this](std::string_view text, const RunCounts& counts) {
          texts.emplace_back(text);
          seconds.push_back(counts.seconds);
        }) {}
  void show_at(double second) {
    progress_.show(
        {.total = 500, .done = 118, .failed = 2, .skipped = 10, .pixels = 59'000'000, .seconds = second});
  }
  std::vector<std::string> texts;
  std::vector<double> seconds;

 private:
  Progress progress_;
};

TEST(ProgressLines, AppearEveryTenSeconds) {
  Lines lines(Progress::Way::lines);
  for (int look = 0; look <= 9'999; ++look) lines.show_at(look / 1000.0);
  EXPECT_TRUE(lines.texts.empty()) << "a shorter run says nothing";
  for (int look = 10'000; look <= 45'000; ++look) lines.show_at(look / 1000.0);
  EXPECT_EQ(lines.seconds, (std::vector<double>{10, 20, 30, 40}));
}

TEST(ProgressLines, DoNotCatchUpAfterAWait) {
  Lines lines(Progress::Way::lines);
  for (const double second : {3.0, 37.5, 38.0, 40.0, 47.4, 47.5, 48.0, 57.49, 57.6}) lines.show_at(second);
  EXPECT_EQ(lines.seconds, (std::vector<double>{37.5, 47.5, 57.6}));
}

TEST(ProgressLines, NoneIfDisabled) {
  Lines lines(Progress::Way::none);
  for (int second = 0; second < 100; ++second) lines.show_at(second);
  EXPECT_TRUE(lines.texts.empty());
  EXPECT_EQ(Progress::style_for_stderr(false), Progress::Way::none);
}

TEST(ProgressLines, ShowProgress) {
  EXPECT_EQ(progress_text(
                {.total = 510, .done = 118, .failed = 2, .skipped = 10, .pixels = 59'000'000, .seconds = 20}),
            "130 of 510 images: 118 done, 10 skipped, 2 failed, 5.9 images/s, 3.0 MP/s, 1:03 left");
  EXPECT_EQ(progress_text({.total = 5, .done = 0, .failed = 0, .skipped = 0, .pixels = 0, .seconds = 20}),
            "0 of 5 images: 0 done, 0 skipped, 0 failed");
}

}  // namespace
}  // namespace imgpipe::test::log_test
