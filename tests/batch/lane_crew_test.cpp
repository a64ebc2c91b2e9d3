// When a further device of a batch is started: the crew by itself, and under a batch.
#include "pipeline/jobs/lane_crew.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/synth.h"
#include "tests/support/files.h"
#include "tests/support/host_lane.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::lane_crew_test {
namespace {

using namespace std::chrono_literals;

std::vector<std::unique_ptr<Lane>> lanes(const std::vector<LaneFaults>& faults) {
  std::vector<std::unique_ptr<Lane>> lanes;
  for (std::size_t i = 0; i < faults.size(); ++i)
    lanes.push_back(std::make_unique<HostLane>("lane:" + std::to_string(i), faults[i]));
  return lanes;
}

// What a crew said.
struct Heard {
  std::atomic<int> broken{0}, last{0};

  LaneEvents events() {
    return {[](EntryPointer, const std::string&) {},
            [](EntryPointer, const Error&) {},
            [](EntryPointer) {},
            [](EntryPointer) {},
            [](EntryPointer, bool) {},
            [this](const std::string&, const Error&, bool is_last) {
              ++broken;
              if (is_last) ++last;
            },
            [] {}};
  }
};

// Gives threads, but not the ones from number `first` to `last`; the first is 1. A lane takes two.
ThreadStarter starter(int first = 0, int last = 0) {
  return [first, last, asked = std::make_shared<std::atomic<int>>(0)](std::function<void()> body) {
    const int number = ++*asked;
    if (number >= first && number <= last)
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    return std::thread(std::move(body));
  };
}

// Waits until a crew has said so of so many lanes; false after ten seconds.
bool says_broken(const Heard& heard, int count) {
  for (int i = 0; i < 1000 && heard.broken < count; ++i) std::this_thread::sleep_for(10ms);
  return heard.broken == count;
}

// Waits until so many lanes work; false after ten seconds.
bool reaches(const LaneCrew& crew, std::size_t count) {
  for (int i = 0; i < 1000 && crew.devices().size() < count; ++i) std::this_thread::sleep_for(10ms);
  return crew.devices().size() == count;
}

TEST(LaneCrew, WithoutPatienceAllLanesStart) {
  Heard heard;
  LaneCrew crew(lanes({{}, {}, {}}), 0ns, heard.events(), starter());
  EXPECT_EQ(crew.slots(), 0U);
  crew.start();
  EXPECT_TRUE(reaches(crew, 3));
  EXPECT_EQ(crew.slots(), 9U);
}

TEST(LaneCrew, AFurtherLaneStartsWhenEnoughTimeIsLost) {
  Heard heard;
  LaneCrew crew(lanes({{}, {.start_ms = 50}, {}}), 100ms, heard.events(), starter());
  crew.start();
  ASSERT_TRUE(reaches(crew, 1));
  EXPECT_EQ(crew.slots(), 3U);
  crew.lost(70ms);  // before the first lane was ready: counts for nothing
  crew.lost(169ms);
  EXPECT_EQ(crew.slots(), 3U);
  crew.lost(170ms);
  EXPECT_EQ(crew.slots(), 6U);
  crew.lost(1000ms);  // while the second is starting
  EXPECT_EQ(crew.slots(), 6U);
  ASSERT_TRUE(reaches(crew, 2));
  crew.lost(1000ms);
  crew.lost(1099ms);
  EXPECT_EQ(crew.slots(), 6U);
  crew.lost(1100ms);
  EXPECT_TRUE(reaches(crew, 3));
  crew.lost(1100ms);
  crew.lost(9000ms);  // there are no more
  EXPECT_EQ(crew.slots(), 9U);
}

TEST(LaneCrew, WhereNoneWorksTheNextOneStarts) {
  Heard heard;
  LaneCrew crew(lanes({{.start = true}, {.start = true}, {}}), 1h, heard.events(), starter());
  crew.start();
  EXPECT_TRUE(reaches(crew, 1));
  EXPECT_EQ(crew.devices().front(), "lane:2 (test)");
  EXPECT_TRUE(says_broken(heard, 2));  // a lane's successor may be there before it is said
  EXPECT_EQ(heard.last, 0);
}

TEST(LaneCrew, TheLastIsSaidOnce) {
  Heard heard;
  LaneCrew crew(lanes({{.start = true}, {.start = true}}), 1h, heard.events(), starter());
  crew.start();
  EXPECT_TRUE(says_broken(heard, 2));
  EXPECT_EQ(heard.last, 1);
}

TEST(LaneCrew, ALaneWithoutThreadsGivesWayToTheNext) {
  for (const int missing : {1, 2}) {  // the first of its threads, or the second
    Heard heard;
    LaneCrew crew(lanes({{}, {}}), 1h, heard.events(), starter(missing, missing));
    crew.start();
    EXPECT_TRUE(reaches(crew, 1));
    EXPECT_EQ(crew.devices().front(), "lane:1 (test)");
    EXPECT_EQ(heard.broken, 1);
    EXPECT_EQ(heard.last, 0);
  }
}

TEST(LaneCrew, WithoutAnyThreadsTheLastIsSaidOnce) {
  for (const auto patience : {0ns, std::chrono::nanoseconds(1h)}) {
    Heard heard;
    LaneCrew crew(lanes({{}, {}, {}}), patience, heard.events(), starter(1, 100));
    crew.start();
    EXPECT_EQ(heard.broken, 3);
    EXPECT_EQ(heard.last, 1);
    EXPECT_EQ(crew.slots(), 0U);
    EntryPointer image = std::make_unique<BatchEntry>();
    EXPECT_FALSE(crew.push(image));
    EXPECT_TRUE(image);
  }
}

TEST(LaneCrew, AFurtherLaneWithoutThreadsLeavesTheOthersAtWork) {
  Heard heard;
  LaneCrew crew(lanes({{}, {}}), 100ms, heard.events(), starter(4, 4));
  crew.start();
  ASSERT_TRUE(reaches(crew, 1));
  crew.lost(0ms);
  crew.lost(100ms);
  EXPECT_EQ(heard.broken, 1);
  EXPECT_EQ(heard.last, 0);
  EXPECT_EQ(crew.devices(), std::vector<std::string>{"lane:0 (test)"});
}

TEST(LaneCrew, ASuccessorWithoutThreadsIsTheLast) {
  Heard heard;
  LaneCrew crew(lanes({{.start = true}, {}}), 1h, heard.events(), starter(3, 3));
  crew.start();
  EXPECT_TRUE(says_broken(heard, 2));
  EXPECT_EQ(heard.last, 1);
}

// A batch of equal images, on lanes that are as slow as they are told to be.
class FurtherLanes : public testing::Test {
 protected:
  void SetUp() override {
    const Image image = synthesize(parse_pattern("photo"), {200, 150, 3}, 1);
    const auto writer = make_writer(Format::ppm, image.shape());
    writer->write_rows(image.view());
    save(in_.file("image.ppm"), writer->finish().joined());
  }

  static constexpr std::size_t kImages = 60;

  struct Ended {
    std::size_t done = 0, failed = 0;
    std::vector<std::string> devices, notes;
    std::optional<Error> fatal;
  };

  // The names of the devices that a batch without any trouble used.
  std::vector<std::string> run(const std::vector<LaneFaults>& faults, std::chrono::milliseconds patience,
                               bool host_helps, const std::string& stages, std::size_t images = kImages) {
    const Ended ended = end_of(faults, patience, host_helps, stages, starter(), 0, images);
    EXPECT_EQ(ended.done, images);
    EXPECT_EQ(ended.failed, 0U);
    EXPECT_FALSE(ended.fatal);
    return ended.devices;
  }

  Ended end_of(const std::vector<LaneFaults>& faults, std::chrono::milliseconds patience, bool host_helps,
               const std::string& stages, const ThreadStarter& start_thread,
               std::int64_t lane_start_pixels = 0, std::size_t images = kImages) {
    std::vector<BatchItem> items;
    for (std::size_t i = 0; i < images; ++i)
      items.push_back({in_.file("image.ppm"), out_.file(std::to_string(i) + ".pgm"), Format::pgm});
    BatchSettings settings;
    settings.stages = parse_stages(stages);
    settings.jobs = 4;
    settings.host_helps = host_helps;
    settings.find_lanes = [offer = offering(lanes(faults), 0, lane_start_pixels), patience, start_thread] {
      LaneOffer made = offer();
      made.lane_patience = patience;
      made.start_thread = start_thread;
      return made;
    };
    Batch batch(std::move(items), std::move(settings));
    Ended ended;
    while (!batch.finished()) {
      const std::optional<BatchResult> result = batch.next(1s);
      if (!result) continue;
      ++ended.done;
      if (result->failed) ++ended.failed;
    }
    ended.devices = batch.devices();
    ended.notes = batch.take_notes();
    ended.fatal = batch.fatal();
    return ended;
  }

  TemporaryFolder in_, out_;
};

constexpr LaneFaults kSlow{.image_ms = 20};

TEST_F(FurtherLanes, AreStartedWhereWorkersWait) {
  EXPECT_EQ(run({kSlow, kSlow}, 50ms, false, "gray").size(), 2U);
}

TEST_F(FurtherLanes, AreStartedWhereAllWasDecodedBeforeTheFirstWasReady) {
  EXPECT_EQ(run({{.start_ms = 300, .image_ms = 20}, kSlow}, 50ms, false, "gray").size(), 2U);
}

TEST_F(FurtherLanes, AreNotStartedWhereWorkersDoNotWaitSoLong) {
  EXPECT_EQ(run({kSlow, kSlow}, 1h, false, "gray"), std::vector<std::string>{"lane:0 (test)"});
  // Helping workers may have done all before the first is ready.
  const std::vector<std::string> devices = run({kSlow, kSlow}, 1h, true, "gray");
  if (!devices.empty()) {
    EXPECT_EQ(devices, std::vector<std::string>{"lane:0 (test)"});
  }
}

// Few images wait: workers are idle, but no further lane would help.
TEST_F(FurtherLanes, AreNotStartedForTheLastImages) {
  EXPECT_EQ(run({{.image_ms = 100}, {}}, 20ms, false, "gray", 6), std::vector<std::string>{"lane:0 (test)"});
}

TEST_F(FurtherLanes, AreStartedWhereWorkersDoMuchOfTheLanesWork) {
  std::string many = "gray";
  for (int i = 0; i < (kSanitized ? 30 : 300); ++i) many += ",smooth";
  EXPECT_EQ(run({{.image_ms = 500}, {.image_ms = 500}}, 5ms, true, many).size(), 2U);
}

TEST_F(FurtherLanes, TakeOverWhereTheFirstBreaks) {
  for (const LaneFaults& fault :
       {LaneFaults{.start = true}, LaneFaults{.breaks_in_launch = 3}, LaneFaults{.breaks_in_finish = 2}}) {
    const std::vector<std::string> devices = run({fault, {}}, 1h, false, "gray");
    ASSERT_FALSE(devices.empty());
    EXPECT_EQ(devices.back(), "lane:1 (test)");
  }
}

TEST_F(FurtherLanes, TakeOverWhereTheFirstHasNoThreads) {
  for (const int missing : {1, 2}) {
    const Ended ended = end_of({{}, {}}, 1h, false, "gray", starter(missing, missing));
    EXPECT_EQ(ended.done, kImages);
    EXPECT_EQ(ended.failed, 0U);
    EXPECT_FALSE(ended.fatal);
    EXPECT_EQ(ended.devices, std::vector<std::string>{"lane:1 (test)"});
    ASSERT_EQ(ended.notes.size(), 1U);
    EXPECT_TRUE(ended.notes.front().starts_with("lane:0 is not used: cannot start a thread"));
  }
}

TEST_F(FurtherLanes, WithoutThreadsAreDoneWithout) {
  const Ended ended = end_of({kSlow, kSlow, kSlow}, 5ms, false, "gray", starter(3, 100));
  EXPECT_EQ(ended.done, kImages);
  EXPECT_EQ(ended.failed, 0U);
  EXPECT_FALSE(ended.fatal);
  EXPECT_EQ(ended.devices, std::vector<std::string>{"lane:0 (test)"});
  EXPECT_EQ(ended.notes.size(), 2U);
}

TEST_F(FurtherLanes, WithoutAnyThreadTheBatchEnds) {
  for (const auto patience : {0ms, 1000ms}) {
    const Ended ended = end_of({{}, {}}, patience, false, "gray", starter(1, 100));
    EXPECT_EQ(ended.failed, 0U);
    ASSERT_TRUE(ended.fatal);
    EXPECT_EQ(ended.fatal->kind(), ErrorKind::device);
    EXPECT_EQ(ended.notes.size(), 1U);
    EXPECT_TRUE(ended.devices.empty());
  }
}

TEST_F(FurtherLanes, WithoutAnyThreadWorkersThatHelpDoAll) {
  for (const std::int64_t start_pixels : {0, 1}) {  // started by the finder, and by a worker
    // Helping workers may have done all before the lanes are found: then once more.
    Ended ended = end_of({{}, {}}, 1h, true, "gray", starter(1, 100), start_pixels);
    for (int again = 0; again < 20 && ended.notes.empty(); ++again)
      ended = end_of({{}, {}}, 1h, true, "gray", starter(1, 100), start_pixels);
    EXPECT_EQ(ended.done, kImages);
    EXPECT_EQ(ended.failed, 0U);
    EXPECT_FALSE(ended.fatal);
    EXPECT_EQ(ended.notes.size(), 2U);
  }
}

}  // namespace
}  // namespace imgpipe::test::lane_crew_test
