// When a batch starts a further device: the scheduler alone, and within a batch.
#include "pipeline/jobs/lane_scheduler.h"

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
#include "pipeline/jobs/batch_queue.h"
#include "tests/support/files.h"
#include "tests/support/host_lane.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::lane_scheduler_test {
namespace {

using namespace std::chrono_literals;

std::vector<std::unique_ptr<Lane>> lanes(const std::vector<LaneFaults>& faults) {
  std::vector<std::unique_ptr<Lane>> lanes;
  for (std::size_t i = 0; i < faults.size(); ++i)
    lanes.push_back(std::make_unique<HostLane>("lane:" + std::to_string(i), faults[i]));
  return lanes;
}

// Starts threads, but fails for threads `first` to `last`, counted from 1. A lane needs two threads.
ThreadStarter starter(int first = 0, int last = 0) {
  return [first, last, asked = std::make_shared<std::atomic<int>>(0)](std::function<void()> body) {
    const int number = ++*asked;
    if (number >= first && number <= last)
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    return std::thread(std::move(body));
  };
}

// A scheduler without a batch, with one image that is never begun. Counts the events that the scheduler
// reports.
class SchedulerFixture {
 public:
  SchedulerFixture(const std::vector<LaneFaults>& faults, std::chrono::milliseconds patience,
                   const ThreadStarter& start_thread = starter()) {
    settings_.find_lanes = [offer = offering(lanes(faults)), patience, start_thread] {
      LaneCapacity capacity = offer();
      capacity.lane_patience = patience;
      capacity.start_thread = start_thread;
      return capacity;
    };
    queue_.emplace(1, settings_);
    scheduler_.emplace(settings_, *queue_, 1,
                       LaneScheduler::Events{.failed = [](EntryPointer, const Error&) {},
                                             .over = [this](const Error&) { ++last_; }});
    scheduler_->find();
  }

  LaneScheduler* operator->() { return &*scheduler_; }
  BatchQueue& queue() { return *queue_; }
  int last() const { return last_; }
  // Returns the number of lanes reported as broken, including the last.
  int broken() {
    noted_ += static_cast<int>(scheduler_->take_notes().size());
    return noted_ + last_;
  }
  // Waits until `count` lanes were reported as broken; false after ten seconds.
  bool reports_broken(int count) {
    for (int i = 0; i < 1000 && broken() < count; ++i) std::this_thread::sleep_for(10ms);
    return broken() == count;
  }
  // Waits until `count` lanes work, at most ten seconds, then gives them time to check the lost time. Returns
  // false if the number of lanes is not `count` then.
  bool reaches(std::size_t count) {
    for (int i = 0; i < 1000 && scheduler_->devices().size() < count; ++i) std::this_thread::sleep_for(10ms);
    std::this_thread::sleep_for(200ms);
    return scheduler_->devices().size() == count;
  }

 private:
  BatchSettings settings_;
  std::atomic<int> last_{0};
  int noted_ = 0;
  std::optional<BatchQueue> queue_;
  std::optional<LaneScheduler> scheduler_;
};

TEST(LaneScheduler, AllLanesStartWithoutPatience) {
  SchedulerFixture lanes({{}, {}, {}}, 0ms);
  EXPECT_TRUE(lanes.reaches(3));
  EXPECT_EQ(lanes->started(), 3U);
}

TEST(LaneScheduler, FurtherLaneStartsAfterEnoughLostTime) {
  SchedulerFixture lanes({{.start_ms = 50}, {.start_ms = 50}, {}}, 100ms);
  lanes->lost(1000ms);  // while the first is starting: ignored
  EXPECT_EQ(lanes->started(), 1U);
  ASSERT_TRUE(lanes.reaches(1));
  lanes->lost(99ms);
  EXPECT_EQ(lanes->started(), 1U);
  lanes->lost(100ms);
  EXPECT_EQ(lanes->started(), 2U);
  lanes->lost(1000ms);  // while the second is starting
  EXPECT_EQ(lanes->started(), 2U);
  ASSERT_TRUE(lanes.reaches(2));
  lanes->lost(99ms);
  EXPECT_EQ(lanes->started(), 2U);
  lanes->lost(100ms);
  EXPECT_TRUE(lanes.reaches(3));
  lanes->lost(9000ms);  // no lanes are left
  EXPECT_EQ(lanes->started(), 3U);
}

TEST(LaneScheduler, IfNoLaneWorksTheNextStarts) {
  SchedulerFixture lanes({{.start = true}, {.start = true}, {}}, 1h);
  EXPECT_TRUE(lanes.reaches(1));
  EXPECT_EQ(lanes->devices().front(), "lane:2 (test)");
  EXPECT_TRUE(lanes.reports_broken(2));  // a lane's successor may start before the failure is reported
  EXPECT_EQ(lanes.last(), 0);
}

TEST(LaneScheduler, LastLaneIsReportedOnce) {
  SchedulerFixture lanes({{.start = true}, {.start = true}}, 1h);
  EXPECT_TRUE(lanes.reports_broken(2));
  EXPECT_EQ(lanes.last(), 1);
}

TEST(LaneScheduler, LaneWithoutThreadsIsReplaced) {
  for (const int missing : {1, 2}) {  // the lane's first or second thread fails to start
    SchedulerFixture lanes({{}, {}}, 1h, starter(missing, missing));
    EXPECT_TRUE(lanes.reaches(1));
    EXPECT_EQ(lanes->devices().front(), "lane:1 (test)");
    EXPECT_EQ(lanes.broken(), 1);
    EXPECT_EQ(lanes.last(), 0);
  }
}

TEST(LaneScheduler, LastLaneIsReportedOnceWithoutThreads) {
  for (const auto patience : {std::chrono::milliseconds(0ms), std::chrono::milliseconds(1h)}) {
    SchedulerFixture lanes({{}, {}, {}}, patience, starter(1, 100));
    EXPECT_EQ(lanes.broken(), 3);
    EXPECT_EQ(lanes.last(), 1);
    EXPECT_EQ(lanes->started(), 0U);
    lanes->push(lanes.queue().next().entry);  // returns to the queue, because no lane is left
    EXPECT_TRUE(lanes.queue().next().entry);
  }
}

TEST(LaneScheduler, ImageMayPrecedeTheLanes) {
  for (const bool found : {false, true}) {
    BatchSettings settings;
    settings.find_lanes = found ? offering(lanes({{.start = true}})) : []() -> LaneCapacity { return {}; };
    BatchQueue queue(1, settings);
    LaneScheduler scheduler(settings, queue, 1,
                            {.failed = [](EntryPointer, const Error&) {}, .over = [](const Error&) {}});
    EntryPointer image = queue.next().entry;
    image->job.emplace(ImageFiles(), settings, Timeline());
    scheduler.push(std::move(image));
    EXPECT_EQ(queue.next(0ms).action, BatchQueue::Action::wait);
    scheduler.find();
    EXPECT_TRUE(queue.next(10s).entry) << "no lane works: it begins again";
  }
}

TEST(LaneScheduler, FurtherLaneWithoutThreadsDoesNotStopOthers) {
  SchedulerFixture lanes({{}, {}}, 100ms, starter(4, 4));
  ASSERT_TRUE(lanes.reaches(1));
  lanes->lost(0ms);
  lanes->lost(100ms);
  EXPECT_EQ(lanes.broken(), 1);
  EXPECT_EQ(lanes.last(), 0);
  EXPECT_EQ(lanes->devices(), std::vector<std::string>{"lane:0 (test)"});
}

TEST(LaneScheduler, SuccessorWithoutThreadsIsTheLast) {
  SchedulerFixture lanes({{.start = true}, {}}, 1h, starter(3, 3));
  EXPECT_TRUE(lanes.reports_broken(2));
  EXPECT_EQ(lanes.last(), 1);
}

// A batch of equal images on lanes of a given speed.
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

  // Returns the names of the devices used by a batch that runs without errors.
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
      LaneCapacity made = offer();
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

  TemporaryDirectory in_, out_;
};

constexpr LaneFaults kSlow{.image_ms = 20};

TEST_F(FurtherLanes, StartIfWorkersWait) {
  EXPECT_EQ(run({kSlow, kSlow}, 50ms, false, "gray").size(), 2U);
}

TEST_F(FurtherLanes, StartIfAllIsDecodedBeforeTheFirstIsReady) {
  EXPECT_EQ(run({{.start_ms = 300, .image_ms = 20}, kSlow}, 50ms, false, "gray").size(), 2U);
}

TEST_F(FurtherLanes, DoNotStartIfWorkersWaitBriefly) {
  EXPECT_EQ(run({kSlow, kSlow}, 1h, false, "gray"), std::vector<std::string>{"lane:0 (test)"});
  // Assisting workers may finish everything before the first lane is ready.
  const std::vector<std::string> devices = run({kSlow, kSlow}, 1h, true, "gray");
  if (!devices.empty()) {
    EXPECT_EQ(devices, std::vector<std::string>{"lane:0 (test)"});
  }
}

// Few images are left: workers are idle, but a further lane would not help.
TEST_F(FurtherLanes, AreNotStartedForTheLastImages) {
  EXPECT_EQ(run({{.image_ms = 100}, {}}, 20ms, false, "gray", 6), std::vector<std::string>{"lane:0 (test)"});
}

TEST_F(FurtherLanes, StartIfWorkersDoMuchOfTheLanesWork) {
  std::string many = "gray";
  for (int i = 0; i < (kSanitized ? 30 : 300); ++i) many += ",smooth";
  EXPECT_EQ(run({{.image_ms = 500}, {.image_ms = 500}}, 5ms, true, many).size(), 2U);
}

TEST_F(FurtherLanes, TakeOverIfTheFirstBreaks) {
  for (const LaneFaults& fault :
       {LaneFaults{.start = true}, LaneFaults{.breaks_in_launch = 3}, LaneFaults{.breaks_in_finish = 2}}) {
    const std::vector<std::string> devices = run({fault, {}}, 1h, false, "gray");
    ASSERT_FALSE(devices.empty());
    EXPECT_EQ(devices.back(), "lane:1 (test)");
  }
}

TEST_F(FurtherLanes, TakeOverIfTheFirstHasNoThreads) {
  for (const int missing : {1, 2}) {
    const Ended ended = end_of({{}, {}}, 1h, false, "gray", starter(missing, missing));
    EXPECT_EQ(ended.done, kImages);
    EXPECT_EQ(ended.failed, 0U);
    EXPECT_FALSE(ended.fatal);
    EXPECT_EQ(ended.devices, std::vector<std::string>{"lane:1 (test)"});
    ASSERT_EQ(ended.notes.size(), 1U);
    EXPECT_TRUE(ended.notes.front().starts_with("lane:0: not used: cannot start a thread"));
  }
}

TEST_F(FurtherLanes, AreSkippedWithoutThreads) {
  const Ended ended = end_of({kSlow, kSlow, kSlow}, 5ms, false, "gray", starter(3, 100));
  EXPECT_EQ(ended.done, kImages);
  EXPECT_EQ(ended.failed, 0U);
  EXPECT_FALSE(ended.fatal);
  EXPECT_EQ(ended.devices, std::vector<std::string>{"lane:0 (test)"});
  EXPECT_EQ(ended.notes.size(), 2U);
}

TEST_F(FurtherLanes, BatchEndsWithoutThreads) {
  for (const auto patience : {0ms, 1000ms}) {
    const Ended ended = end_of({{}, {}}, patience, false, "gray", starter(1, 100));
    EXPECT_EQ(ended.failed, 0U);
    ASSERT_TRUE(ended.fatal);
    EXPECT_EQ(ended.fatal->kind(), ErrorKind::device);
    EXPECT_EQ(ended.notes.size(), 1U);
    EXPECT_TRUE(ended.devices.empty());
  }
}

TEST_F(FurtherLanes, AssistingWorkersDoAllWithoutThreads) {
  for (const std::int64_t start_pixels : {0, 1}) {  // started by the finder, then by a worker
    // Assisting workers may finish everything before the lanes are found; then the test tries again.
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
}  // namespace imgpipe::test::lane_scheduler_test
