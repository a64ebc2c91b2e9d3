// When a further device of a batch is started: the crew by itself, and under a batch.
#include "pipeline/lane_crew.h"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/synth.h"
#include "tests/support/files.h"
#include "tests/support/host_lane.h"

namespace imgpipe::test {
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
    return {[](std::unique_ptr<LaneImage>, const std::string&) {},
            [](std::unique_ptr<LaneImage>, const Error&) {}, [](std::unique_ptr<LaneImage>) {},
            [this](const std::string&, const Error&, bool is_last) {
              ++broken;
              if (is_last) ++last;
            },
            [] {}};
  }
};

// Waits until so many lanes work; false after ten seconds.
bool reaches(const LaneCrew& crew, std::size_t count) {
  for (int i = 0; i < 1000 && crew.devices().size() < count; ++i) std::this_thread::sleep_for(10ms);
  return crew.devices().size() == count;
}

TEST(LaneCrew, WithoutPatienceAllLanesStart) {
  Heard heard;
  LaneCrew crew(lanes({{}, {}, {}}), 0ns, heard.events());
  EXPECT_EQ(crew.slots(), 0U);
  crew.start();
  EXPECT_TRUE(reaches(crew, 3));
  EXPECT_EQ(crew.slots(), 9U);
}

TEST(LaneCrew, AFurtherLaneStartsWhenEnoughTimeIsLost) {
  Heard heard;
  LaneCrew crew(lanes({{}, {.start_ms = 50}, {}}), 100ms, heard.events());
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
  LaneCrew crew(lanes({{.start = true}, {.start = true}, {}}), 1h, heard.events());
  crew.start();
  EXPECT_TRUE(reaches(crew, 1));
  EXPECT_EQ(crew.devices().front(), "lane:2 (test)");
  EXPECT_EQ(heard.broken, 2);
  EXPECT_EQ(heard.last, 0);
}

TEST(LaneCrew, TheLastIsSaidOnce) {
  Heard heard;
  LaneCrew crew(lanes({{.start = true}, {.start = true}}), 1h, heard.events());
  crew.start();
  for (int i = 0; i < 1000 && heard.broken < 2; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(heard.broken, 2);
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

  // The names of the devices that it used.
  std::vector<std::string> run(const std::vector<LaneFaults>& faults, std::chrono::milliseconds patience,
                               bool host_helps, const std::string& stages) {
    constexpr std::size_t kImages = 60;
    std::vector<BatchItem> items;
    for (std::size_t i = 0; i < kImages; ++i)
      items.push_back({in_.file("image.ppm"), out_.file(std::to_string(i) + ".pgm"), Format::pgm});
    BatchSettings settings;
    settings.stages = parse_stages(stages);
    settings.jobs = 4;
    settings.host_helps = host_helps;
    settings.find_lanes = [offer = offering(lanes(faults)), patience] {
      LaneOffer made = offer();
      made.lane_patience = patience;
      return made;
    };
    Batch batch(std::move(items), std::move(settings));
    std::size_t done = 0;
    while (!batch.finished()) {
      const std::optional<BatchResult> result = batch.next(1s);
      if (!result) continue;
      EXPECT_FALSE(result->failed) << result->reason;
      ++done;
    }
    EXPECT_EQ(done, kImages);
    EXPECT_FALSE(batch.fatal());
    return batch.devices();
  }

  TemporaryFolder in_, out_;
};

constexpr LaneFaults kSlow{.image_ms = 20};

TEST_F(FurtherLanes, AreStartedWhereWorkersWait) {
  EXPECT_EQ(run({kSlow, kSlow}, 50ms, false, "gray").size(), 2U);
}

TEST_F(FurtherLanes, AreNotStartedWhereWorkersDoNotWaitSoLong) {
  EXPECT_EQ(run({kSlow, kSlow}, 1h, false, "gray"), std::vector<std::string>{"lane:0 (test)"});
  EXPECT_EQ(run({kSlow, kSlow}, 1h, true, "gray"), std::vector<std::string>{"lane:0 (test)"});
}

TEST_F(FurtherLanes, AreStartedWhereWorkersDoMuchOfTheLanesWork) {
  std::string many = "gray";
  for (int i = 0; i < 300; ++i) many += ",smooth";
  EXPECT_EQ(run({{.image_ms = 500}, {.image_ms = 500}}, 50ms, true, many).size(), 2U);
}

TEST_F(FurtherLanes, TakeOverWhereTheFirstBreaks) {
  for (const LaneFaults& fault :
       {LaneFaults{.start = true}, LaneFaults{.breaks_in_launch = 3}, LaneFaults{.breaks_in_finish = 2}}) {
    const std::vector<std::string> devices = run({fault, {}}, 1h, false, "gray");
    ASSERT_FALSE(devices.empty());
    EXPECT_EQ(devices.back(), "lane:1 (test)");
  }
}

}  // namespace
}  // namespace imgpipe::test
