// The batch's lanes, alone and with workers, one image at a time and in groups: no fault loses an image.
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "pipeline/decode_row.h"
#include "tests/support/batch_folder.h"
#include "tests/support/files.h"
#include "tests/support/host_lane.h"

namespace imgpipe::test {
namespace {

namespace fs = std::filesystem;

TEST_F(BatchTest, LanesGiveTheSameBytes) {
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

TEST_F(BatchTest, SmallImagesStayWithTheWorkers) {
  BatchSettings with = settings(2);
  with.find_lanes = offering(lanes({{}}), 3000);
  with.host_helps = true;
  Batch batch(items(), std::move(with));
  const auto results = run(batch);
  EXPECT_EQ(results.size(), names_.size());
  for (const auto& [item, result] : results) {
    expect_done(result);
    // Large ones go to the lane when it is ready and free.
    EXPECT_TRUE(result.header.shape.pixels() >= 3000 || result.device == "cpu") << result.device;
  }
}

TEST_F(BatchTest, DevicesThatCannotBeLookedForEndTheBatch) {
  for (const bool host_helps : {false, true}) {
    BatchSettings with = settings(2);
    with.host_helps = host_helps;
    with.find_lanes = []() -> LaneOffer {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      throw Error(ErrorKind::device, "there is none");
    };
    Batch batch(items(), std::move(with));
    if (host_helps) {
      expect_all_done(batch);
      EXPECT_EQ(note_of(batch), "cuda is not used: there is none");
    } else {
      EXPECT_TRUE(run(batch).empty());
      EXPECT_TRUE(batch.fatal());
    }
  }
}

TEST_F(BatchTest, LanesThatDoNotPayAreNotStarted) {
  BatchSettings with = settings(2);
  with.find_lanes = offering(lanes({{}}), 0, std::int64_t{1} << 40);
  with.host_helps = true;
  Batch batch(items(), std::move(with));
  for (const auto& [item, result] : run(batch)) EXPECT_EQ(result.device, "cpu");
  EXPECT_TRUE(batch.devices().empty());
}

TEST_F(BatchTest, ALaneThatDoesNotStartEndsTheBatch) {
  BatchSettings with = settings(2);
  with.find_lanes = offering(lanes({{.start = true}}));
  Batch batch(items(), std::move(with));
  EXPECT_TRUE(run(batch).empty());
  ASSERT_TRUE(batch.fatal());
  EXPECT_EQ(batch.fatal()->kind(), ErrorKind::device);
  EXPECT_TRUE(out_.names().empty());
}

TEST_F(BatchTest, WorkersHelpWhereALaneDoesNotStart) {
  BatchSettings with = settings(2);
  with.find_lanes = offering(lanes({{.start = true}}));
  with.host_helps = true;
  Batch batch(items(), std::move(with));
  expect_all_done(batch);
  EXPECT_EQ(note_of(batch), "lane:0 is not used: it does not start");
}

TEST_F(BatchTest, ALaneThatBreaksLosesNothingWhereAnotherIsLeft) {
  for (const LaneFaults& fault : {LaneFaults{.breaks_in_launch = 3}, LaneFaults{.breaks_in_finish = 2}}) {
    BatchSettings with = settings(3);
    with.find_lanes = offering(lanes({fault, {}}));
    Batch batch(items(), std::move(with));
    expect_all_done(batch);
  }
}

TEST_F(BatchTest, ALaneThatBreaksLosesNothingWhereWorkersHelp) {
  for (const LaneFaults& fault : {LaneFaults{.breaks_in_launch = 1}, LaneFaults{.breaks_in_launch = 3},
                                  LaneFaults{.breaks_in_finish = 1}, LaneFaults{.breaks_in_finish = 2}}) {
    BatchSettings with = settings(3);
    with.find_lanes = offering(lanes({fault}));
    with.host_helps = true;
    Batch batch(items(), std::move(with));
    expect_all_done(batch);
  }
}

TEST_F(BatchTest, TheLastLaneThatBreaksEndsTheBatch) {
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

TEST_F(BatchTest, AnImageTooLargeForALaneWithOthersRunsAlone) {
  // The largest, 200x150 RGB, needs 120,000 bytes: room for it, but not for two.
  BatchSettings with = settings(4);
  with.find_lanes = offering(lanes({{.room_bytes = 130'000}}));
  Batch batch(items(), std::move(with));
  expect_all_done(batch);
}

TEST_F(BatchTest, AnImageTooLargeForALaneFailsAlone) {
  BatchSettings with = settings(4);
  with.find_lanes = offering(lanes({{.room_bytes = 100'000}}));
  Batch batch(items(), std::move(with));
  const auto results = run(batch);
  EXPECT_EQ(results.size(), names_.size());
  for (const auto& [item, result] : results) {
    if (result.header.shape == Shape{200, 150, 3}) {
      EXPECT_EQ(result.failed, ErrorKind::memory);
      EXPECT_TRUE(result.reason.starts_with(in_.file(names_[item]))) << result.reason;
    } else {
      expect_done(result);
    }
  }
  EXPECT_FALSE(batch.fatal());
}

TEST_F(BatchTest, ALaneMaySpeakUntilTheEnd) {
  // A failure ends the batch while the lane's thread has more to tell.
  for (int i = 0; i < 60; ++i) {
    BatchSettings with = settings(4);
    with.find_lanes = offering(lanes({{.room_bytes = 1}}));
    Batch batch(items(), std::move(with));
    for (const auto& [item, result] : run(batch)) ASSERT_EQ(result.failed, ErrorKind::memory);
  }
}

// ---- groups of images in a launch ---------------------------------------------------------------------

TEST_F(BatchTest, GroupsGiveTheSameBytes) {
  for (const std::size_t group : {2U, 5U, 100U}) {
    BatchSettings with = settings(4);
    with.find_lanes = offering(lanes({{.image_ms = 1, .group = group}}));
    Batch batch(items(), std::move(with));
    expect_all_done(batch);
  }
}

TEST_F(BatchTest, AGroupWithoutMemoryGoesOneByOne) {
  for (int i = 1; i <= 4; ++i) {
    for (const LaneFaults& fault : {LaneFaults{.group = 6, .no_memory_in_launch = i},
                                    LaneFaults{.group = 6, .no_memory_in_finish = i}}) {
      BatchSettings with = settings(4);
      with.find_lanes = offering(lanes({fault}));
      Batch batch(items(), std::move(with));
      const auto results = run(batch);
      EXPECT_EQ(results.size(), names_.size());
      std::size_t failed = 0;
      for (const auto& [item, result] : results) {
        failed += result.failed ? 1U : 0U;
        if (!result.failed) expect_done(result);
      }
      EXPECT_LE(failed, 1U) << "one that was alone when it came to its end";
      EXPECT_FALSE(batch.fatal());
    }
  }
}

TEST_F(BatchTest, OneOfAGroupThatHasTooLittleMemoryFailsAlone) {
  BatchSettings with = settings(4);
  with.find_lanes = offering(lanes({{.group = 6, .no_memory_for_one = 5}}));
  Batch batch(items(), std::move(with));
  std::size_t failed = 0;
  for (const auto& [item, result] : run(batch)) {
    if (result.failed) {
      EXPECT_EQ(result.failed, ErrorKind::memory);
      ++failed;
    } else {
      expect_done(result);
    }
  }
  EXPECT_EQ(failed, 1U);
}

// Too little memory, and then the device breaks: no image is lost between the two.
TEST_F(BatchTest, TwoFailuresLoseNothing) {
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

// What a lane finds to be damaged, or does not know, comes back and goes the host's way.
TEST_F(BatchTest, WhatALaneDoesNotDecodeTheWorkersDo) {
  for (const bool known : {false, true}) {
    BatchSettings with = settings(4);
    with.lanes_have_codecs = known;  // before the lanes are found
    with.find_lanes = offering(lanes({{.group = 6, .codecs = true}}));
    Batch batch(items(), std::move(with));
    expect_all_done(batch);
  }
}

// Where the budget leaves only the library's decoder, no lane is asked to decode.
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
}  // namespace imgpipe::test
