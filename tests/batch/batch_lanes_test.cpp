// A batch's lanes, alone and with workers, with single images and groups: no fault loses an image.
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "pipeline/decode_row.h"
#include "pipeline/jobs/batch_queue.h"
#include "pipeline/jobs/lane_scheduler.h"
#include "tests/support/batch_folder.h"
#include "tests/support/files.h"
#include "tests/support/host_lane.h"

namespace imgpipe::test::batch_lanes_test {
namespace {

namespace fs = std::filesystem;

TEST_F(BatchTest, LanesProduceTheSameBytes) {
  for (const std::size_t count : {1U, 3U}) {
    for (const int jobs : {1, 4}) {
      SCOPED_TRACE(std::to_string(count) + " lanes, jobs " + std::to_string(jobs));
      BatchSettings with = settings(jobs);
      with.find_lanes = offering(lanes(std::vector<LaneFaults>(count, LaneFaults{.start_ms = 20})));
      Batch batch(items(), std::move(with));
      const auto results = run(batch);
      ASSERT_EQ(results.size(), names_.size());
      for (const auto& [item, result] : results) {
        expect_done(result);
        EXPECT_TRUE(result.device.starts_with("lane:")) << result.device;
        EXPECT_GT(result.on_lane[static_cast<std::size_t>(Part::kernels)].end_ns, 0);
      }
      EXPECT_EQ(batch.devices().size(), count);
    }
  }
}

TEST_F(BatchTest, WorkersProcessSmallImages) {
  BatchSettings with = settings(2);
  with.find_lanes = offering(lanes({{}}), 3000);
  with.host_helps = true;
  Batch batch(items(), std::move(with));
  const auto results = run(batch);
  EXPECT_EQ(results.size(), names_.size());
  for (const auto& [item, result] : results) {
    expect_done(result);
    // Large images go to the lane once it is ready and free.
    EXPECT_TRUE(result.header.shape.pixels() >= 3000 || result.device == "cpu") << result.device;
  }
}

TEST_F(BatchTest, DeviceSearchFailureEndsTheBatch) {
  for (const bool host_helps : {false, true}) {
    BatchSettings with = settings(2);
    with.host_helps = host_helps;
    with.find_lanes = []() -> LaneCapacity {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      throw Error(ErrorKind::device, "there is none");
    };
    Batch batch(items(), std::move(with));
    if (host_helps) {
      expect_all_done(batch);
      EXPECT_EQ(note_of(batch), "cuda: not used: there is none");
    } else {
      EXPECT_TRUE(run(batch).empty());
      EXPECT_TRUE(batch.fatal());
    }
  }
}

TEST_F(BatchTest, UnprofitableLanesAreNotStarted) {
  BatchSettings with = settings(2);
  with.find_lanes = offering(lanes({{}}), 0, std::int64_t{1} << 40);
  with.host_helps = true;
  Batch batch(items(), std::move(with));
  for (const auto& [item, result] : run(batch)) EXPECT_EQ(result.device, "cpu");
  EXPECT_TRUE(batch.devices().empty());
}

TEST_F(BatchTest, LaneThatDoesNotStartEndsTheBatch) {
  BatchSettings with = settings(2);
  with.find_lanes = offering(lanes({{.start = true}}));
  Batch batch(items(), std::move(with));
  EXPECT_TRUE(run(batch).empty());
  ASSERT_TRUE(batch.fatal());
  EXPECT_EQ(batch.fatal()->kind(), ErrorKind::device);
  EXPECT_TRUE(out_.names().empty());
}

TEST_F(BatchTest, WorkersAssistIfALaneDoesNotStart) {
  BatchSettings with = settings(2);
  with.find_lanes = offering(lanes({{.start = true}}));
  with.host_helps = true;
  Batch batch(items(), std::move(with));
  expect_all_done(batch);
  EXPECT_EQ(note_of(batch), "lane:0: not used: it does not start");
}

TEST_F(BatchTest, BrokenLaneLosesNoImageIfAnotherIsLeft) {
  for (const LaneFaults& fault : {LaneFaults{.breaks_in_launch = 3}, LaneFaults{.breaks_in_finish = 2}}) {
    BatchSettings with = settings(3);
    with.find_lanes = offering(lanes({fault, {}}));
    Batch batch(items(), std::move(with));
    expect_all_done(batch);
  }
}

TEST_F(BatchTest, BrokenLaneLosesNoImageIfWorkersAssist) {
  for (const LaneFaults& fault : {LaneFaults{.breaks_in_launch = 1}, LaneFaults{.breaks_in_launch = 3},
                                  LaneFaults{.breaks_in_finish = 1}, LaneFaults{.breaks_in_finish = 2}}) {
    BatchSettings with = settings(3);
    with.find_lanes = offering(lanes({fault}));
    with.host_helps = true;
    Batch batch(items(), std::move(with));
    expect_all_done(batch);
  }
}

TEST_F(BatchTest, FailureOfTheLastLaneEndsTheBatch) {
  BatchSettings with = settings(3);
  with.find_lanes = offering(lanes({{.breaks_in_finish = 4}}));
  Batch batch(items(), std::move(with));
  const auto results = run(batch);
  for (const auto& [item, result] : results) expect_done(result);
  EXPECT_LT(results.size(), names_.size());
  EXPECT_EQ(out_.names().size(), results.size());
  ASSERT_TRUE(batch.fatal());
  EXPECT_EQ(batch.fatal()->kind(), ErrorKind::device);
}

TEST_F(BatchTest, ImageTooLargeForALaneWithOthersRunsAlone) {
  // The largest image, 200x150 RGB, needs 120,000 bytes: the lane has space for one, not for two.
  BatchSettings with = settings(4);
  with.find_lanes = offering(lanes({{.room_bytes = 130'000}}));
  Batch batch(items(), std::move(with));
  expect_all_done(batch);
}

constexpr Shape kLargestImage{200, 150, 3};  // the only one of these images that exceeds kSmallRoom
constexpr std::int64_t kSmallRoom = 100'000;

TEST_F(BatchTest, ImageTooLargeForALaneIsProcessedInBands) {
  for (const int jobs : {1, 4}) {
    for (const std::size_t count : {1U, 2U}) {
      BatchSettings with = settings(jobs, 2);
      with.find_lanes =
          offering(lanes(std::vector<LaneFaults>(count, {.room_bytes = kSmallRoom, .group = 3})));
      Batch batch(items(), std::move(with));
      const auto results = run(batch);
      ASSERT_EQ(results.size(), names_.size());
      for (const auto& [item, result] : results) {
        expect_done(result);
        EXPECT_TRUE(result.device.starts_with("lane:")) << result.device;
        const bool too_large = result.header.shape == kLargestImage;
        EXPECT_EQ(result.route, too_large ? ImageRoute::device_in_bands : ImageRoute::device) << names_[item];
        EXPECT_GT(result.on_lane[static_cast<std::size_t>(Part::upload)].end_ns, 0);
      }
    }
  }
}

TEST_F(BatchTest, ImageWithoutAFittingBandFailsAlone) {
  BatchSettings with = settings(4);
  with.find_lanes = offering(lanes({{.room_bytes = kSmallRoom, .band_bytes = 500}}));
  Batch batch(items(), std::move(with));
  const auto results = run(batch);
  EXPECT_EQ(results.size(), names_.size());
  for (const auto& [item, result] : results) {
    if (result.header.shape != kLargestImage) {
      expect_done(result);
      continue;
    }
    EXPECT_EQ(result.failed, ErrorKind::memory);
    EXPECT_TRUE(result.reason.starts_with(in_.file(names_[item]) + ": not enough device memory: "))
        << result.reason;
    EXPECT_TRUE(result.reason.ends_with(" bytes, 500 are allowed")) << result.reason;
  }
}

// `auto`: no image fails for lack of device memory, whatever the estimates.
TEST_F(BatchTest, AssistingWorkersProcessImagesTooLargeForALane) {
  for (const double lane_ns : {0.0, 1e18}) {
    for (const std::int64_t band_bytes : {std::int64_t{500}, kSmallRoom}) {
      BatchSettings with = settings(3);
      with.host_helps = true;
      with.find_lanes = [lane_ns,
                         offer = offering(lanes({{.room_bytes = kSmallRoom, .band_bytes = band_bytes}}))] {
        LaneCapacity made = offer();
        made.lane_cost = {lane_ns, 0};
        return made;
      };
      Batch batch(items(), std::move(with));
      const auto results = run(batch);
      ASSERT_EQ(results.size(), names_.size());
      for (const auto& [item, result] : results) {
        expect_done(result);
        const bool by_lane =
            result.route == ImageRoute::device || result.route == ImageRoute::device_in_bands;
        EXPECT_EQ(result.device, by_lane ? "lane:0" : "cpu");
        if (result.header.shape == kLargestImage) {
          EXPECT_NE(result.route, ImageRoute::device);
        }
        if (lane_ns > 0 || band_bytes == 500) {
          EXPECT_NE(result.route, ImageRoute::device_in_bands);
        }
      }
    }
  }
}

// An image is processed in bands if the device's part is estimated to take less time than the stages on the
// host.
TEST_F(BatchTest, EstimateChoosesBandsOrHostIfWorkersAssist) {
  struct Case {
    double stages_ns, lane_ns;
    int threads;
    ImageRoute route;
  };
  for (const Case& one :
       {Case{0, 1000, 1, ImageRoute::host_for_memory}, Case{2000, 1000, 1, ImageRoute::device_in_bands},
        Case{2000, 1000, 2, ImageRoute::host_for_memory}, Case{2001, 1000, 2, ImageRoute::device_in_bands}}) {
    BatchSettings with = settings(1, one.threads);
    with.host_helps = true;
    with.lane_memory = {std::pmr::new_delete_resource(), [](std::pmr::memory_resource*) {}};
    with.find_lanes = [lane_ns = one.lane_ns, offer = offering(lanes({{.room_bytes = kSmallRoom}}))] {
      LaneCapacity made = offer();
      made.lane_cost = {lane_ns, 0};
      return made;
    };
    BatchQueue queue(1, with);
    const auto unexpected = [](const Error& e) { ADD_FAILURE() << e.what(); };
    LaneScheduler scheduler(with, queue, 1,
                            {[&](EntryPointer, const Error& error) { unexpected(error); }, unexpected});
    scheduler.find();
    while (scheduler.devices().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    BatchResult by_host;
    by_host.header.shape = kLargestImage;
    by_host.busy[static_cast<std::size_t>(Part::kernels)] = static_cast<std::int64_t>(one.stages_ns);
    if (one.stages_ns > 0) scheduler.record_host_image(by_host);
    const auto opened = [&](EntryPointer entry) {
      ImageFiles files;
      files.input = in_.file(names_[5]);
      files.output = out_.file("o.png");
      entry->job.emplace(files, with, Timeline());
      PendingInput input(in_.file(names_[5]), with.decode, InputKind::regular_only);
      entry->job->read(input);
      entry->job->open();
      entry->job->make_plan();
      entry->job->make_output();
      entry->result.header = entry->job->header();
      entry->result.output = entry->job->output_shape();
      scheduler.choose_route(*entry);
      return entry;
    };
    EntryPointer entry = opened(queue.next().entry);
    ASSERT_EQ(entry->result.header.shape, kLargestImage);
    EXPECT_EQ(entry->result.route, ImageRoute::device);
    entry->job->decode(std::pmr::new_delete_resource());
    scheduler.push(std::move(entry));
    entry = opened(queue.next().entry);
    EXPECT_EQ(entry->result.route, one.route) << one.stages_ns << " ns, threads " << one.threads;
    queue.end(std::move(entry));
    scheduler.end();
  }
}

TEST_F(BatchTest, LaneThatBreaksInBandsLosesNoImage) {
  for (const bool host_helps : {false, true}) {
    BatchSettings with = settings(3);
    with.host_helps = host_helps;
    with.find_lanes =
        offering(lanes({{.room_bytes = kSmallRoom, .breaks_in_bands = true}, {.room_bytes = kSmallRoom}}));
    Batch batch(items(), std::move(with));
    expect_all_done(batch);
  }
}

TEST_F(BatchTest, FailureOfTheLastLaneInBandsEndsTheBatch) {
  BatchSettings with = settings(3);
  with.find_lanes = offering(lanes({{.room_bytes = kSmallRoom, .breaks_in_bands = true}}));
  Batch batch(items(), std::move(with));
  for (const auto& [item, result] : run(batch)) expect_done(result);
  ASSERT_TRUE(batch.fatal());
  EXPECT_EQ(batch.fatal()->kind(), ErrorKind::device);
}

TEST_F(BatchTest, ImageTooLargeForALaneIsConvertedInBands) {
  const auto files_of = [&](std::int64_t room_bytes) {
    BatchSettings with = settings(2);
    with.stages = {};
    if (room_bytes > 0) with.find_lanes = offering(lanes({{.room_bytes = room_bytes}}));
    Batch batch(items(), std::move(with));
    std::map<std::size_t, std::vector<std::byte>> files;
    for (const auto& [item, result] : run(batch)) {
      EXPECT_FALSE(result.failed) << result.reason;
      files[item] = load(out_.file(names_[item] + ".png"));
    }
    return files;
  };
  EXPECT_EQ(files_of(kSmallRoom), files_of(0));
}

TEST_F(BatchTest, LaneMayReportUntilTheEnd) {
  // A failure ends the batch while the lane's thread still has results to report.
  for (int i = 0; i < 60; ++i) {
    BatchSettings with = settings(4);
    with.find_lanes = offering(lanes({{.room_bytes = 1}}));
    Batch batch(items(), std::move(with));
    for (const auto& [item, result] : run(batch)) ASSERT_EQ(result.failed, ErrorKind::memory);
  }
}

// ---- groups of images in a launch ---------------------------------------------------------------------

TEST_F(BatchTest, GroupsProduceTheSameBytes) {
  for (const std::size_t group : {2U, 5U, 100U}) {
    BatchSettings with = settings(4);
    with.find_lanes = offering(lanes({{.image_ms = 1, .group = group}}));
    Batch batch(items(), std::move(with));
    expect_all_done(batch);
  }
}

TEST_F(BatchTest, GroupWithoutMemoryIsSplit) {
  for (int i = 1; i <= 4; ++i) {
    for (const LaneFaults& fault : {LaneFaults{.group = 6, .no_memory_in_launch = i},
                                    LaneFaults{.group = 6, .no_memory_in_finish = i}}) {
      BatchSettings with = settings(4);
      with.find_lanes = offering(lanes({fault}));
      Batch batch(items(), std::move(with));
      expect_all_done(batch);
    }
  }
}

TEST_F(BatchTest, GroupImageWithoutMemoryIsProcessedInBandsAlone) {
  BatchSettings with = settings(4);
  with.find_lanes = offering(lanes({{.group = 6, .no_memory_for_one = 5}}));
  Batch batch(items(), std::move(with));
  std::size_t in_bands = 0;
  for (const auto& [item, result] : run(batch)) {
    expect_done(result);
    in_bands += result.route == ImageRoute::device_in_bands ? 1U : 0U;
  }
  EXPECT_EQ(in_bands, 1U);
}

// Too little memory, then a broken device: no image is lost between the two failures.
TEST_F(BatchTest, TwoFailuresLoseNoImage) {
  for (int memory = 1; memory <= 3; ++memory) {
    for (int broken = 1; broken <= 4; ++broken) {
      for (const bool in_finish : {false, true}) {
        LaneFaults faults{.image_ms = 1, .group = 4, .no_memory_in_launch = memory};
        (in_finish ? faults.breaks_in_finish : faults.breaks_in_launch) = broken;
        BatchSettings with = settings(4);
        with.host_helps = true;
        with.find_lanes = offering(lanes({faults}));
        Batch batch(items(), std::move(with));
        expect_all_done(batch);
      }
    }
  }
}

TEST_F(BatchTest, WorkersDecodeImagesThatALaneRejects) {
  for (const bool known : {false, true}) {
    BatchSettings with = settings(4);
    with.lanes_have_codecs = known;  // whether this is known before the lanes are found
    with.find_lanes = offering(lanes({{.group = 6, .codecs = true}}));
    Batch batch(items(), std::move(with));
    expect_all_done(batch);
  }
}

// If the budget leaves only the library's decoder, no lane decodes.
TEST_F(BatchTest, CodecsWithinABudget) {
  for (int kilobytes = 64; kilobytes <= 4096; kilobytes *= 2) {
    BatchSettings with = settings(2);
    with.memory_bytes = std::int64_t{kilobytes} << 10;
    with.memory_is_limit = true;
    with.lanes_have_codecs = true;
    with.find_lanes = offering(lanes({{.group = 6, .codecs = true}}));
    Batch batch(items(), std::move(with));
    const auto results = run(batch);
    EXPECT_EQ(results.size(), names_.size());
    for (const auto& [item, result] : results) {
      if (!result.failed) expect_done(result);
      EXPECT_TRUE(!result.failed || result.failed == ErrorKind::memory);
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::batch_lanes_test
