// The batch by itself: whatever the jobs, lanes, faults and memory, every image that can be done is done, to
// the byte, and everything else is said.
#include "pipeline/batch/batch.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/synth.h"
#include "pipeline/decode_row.h"
#include "tests/support/files.h"
#include "tests/support/host_lane.h"

namespace imgpipe::test {
namespace {

namespace fs = std::filesystem;

class BatchTest : public testing::Test {
 protected:
  // Images of several shapes and formats; what the reference makes of each is in expected_.
  void SetUp() override {
    const std::vector<Shape> shapes{{64, 48, 3}, {33, 90, 1}, {120, 7, 3},
                                    {1, 1, 3},   {57, 57, 3}, {200, 150, 3}};
    const std::vector<Format> formats{Format::png, Format::jpeg, Format::ppm, Format::bmp};
    for (std::size_t i = 0; i < 24; ++i) {
      Shape shape = shapes[i % shapes.size()];
      const Format format = formats[i % formats.size()];
      const Image image = synthesize(parse_pattern("photo"), shape, i + 1);
      const auto writer = make_writer(format, image.shape());
      writer->write_rows(image.view());
      const std::string name = "image" + std::to_string(i) + "." + std::string(format_info(format).name);
      save(in_.file(name), writer->finish().joined());
      names_.push_back(name);
    }
    for (const std::string& name : names_) expected_[name] = reference_file(in_.file(name));
  }

  static std::vector<std::byte> reference_file(const std::string& path) {
    const std::vector<std::byte> bytes = load(path);
    const std::unique_ptr<Engine> engine = make_reference_engine();
    Job job;
    job.reader = open_reader(bytes);
    job.plan = make_plan(parse_stages("gray,hist,contrast,smooth"), job.reader->header().shape);
    job.writer = make_writer(Format::png, job.plan.output);
    const Outcome outcome = engine->run(std::move(job));
    if (outcome.error) std::rethrow_exception(outcome.error);
    return outcome.file.joined();
  }

  [[nodiscard]] std::vector<BatchItem> items() const {
    std::vector<BatchItem> items;
    for (const std::string& name : names_)
      items.push_back({in_.file(name), out_.file(name + ".png"), Format::png});
    return items;
  }

  static BatchSettings settings(int jobs, int threads = 1) {
    BatchSettings settings;
    settings.stages = parse_stages("gray,hist,contrast,smooth");
    settings.jobs = jobs;
    settings.threads = threads;
    return settings;
  }

  static std::vector<std::unique_ptr<Lane>> lanes(const std::vector<LaneFaults>& faults) {
    std::vector<std::unique_ptr<Lane>> lanes;
    for (std::size_t i = 0; i < faults.size(); ++i)
      lanes.push_back(std::make_unique<HostLane>("lane:" + std::to_string(i), faults[i]));
    return lanes;
  }

  // All results, by item.
  static std::map<std::size_t, BatchResult> run(Batch& batch) {
    std::map<std::size_t, BatchResult> results;
    while (!batch.finished()) {
      if (std::optional<BatchResult> result = batch.next(std::chrono::seconds(1))) {
        const std::size_t item = result->item;
        EXPECT_TRUE(results.emplace(item, std::move(*result)).second) << "two results for " << item;
      }
    }
    return results;
  }

  void expect_done(const BatchResult& result) const {
    EXPECT_FALSE(result.failed) << result.reason;
    const std::string& name = names_[result.item];
    EXPECT_EQ(load(out_.file(name + ".png")), expected_.at(name)) << name;
  }

  // The batch's only note, which may come after its images: a lane has its own threads. "" after ten seconds.
  static std::string note_of(Batch& batch) {
    for (int i = 0; i < 1000; ++i) {
      const std::vector<std::string> notes = batch.take_notes();
      EXPECT_LE(notes.size(), 1U);
      if (!notes.empty()) return notes.front();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return "";
  }

  void expect_all_done(Batch& batch) const {
    const auto results = run(batch);
    EXPECT_EQ(results.size(), names_.size());
    for (const auto& [item, result] : results) expect_done(result);
    EXPECT_EQ(out_.names().size(), names_.size()) << "nothing but the outputs";
    EXPECT_FALSE(batch.fatal());
  }

  TemporaryFolder in_, out_;
  std::vector<std::string> names_;
  std::map<std::string, std::vector<std::byte>> expected_;
};

TEST_F(BatchTest, EveryNumberOfJobsGivesTheSameBytes) {
  for (const int jobs : {1, 2, 3, 8, 50}) {
    SCOPED_TRACE(jobs);
    Batch batch(items(), settings(jobs));
    expect_all_done(batch);
  }
}

TEST_F(BatchTest, EveryNumberOfThreadsGivesTheSameBytes) {
  for (const auto& [jobs, threads] : {std::pair{1, 2}, std::pair{2, 2}, std::pair{2, 7}, std::pair{50, 50}}) {
    SCOPED_TRACE(threads);
    Batch batch(items(), settings(jobs, threads));
    expect_all_done(batch);
  }
}

TEST_F(BatchTest, TheReferenceGivesTheSameBytes) {
  BatchSettings with = settings(2);
  with.make_engine = make_reference_engine;
  Batch batch(items(), std::move(with));
  const auto results = run(batch);
  ASSERT_EQ(results.size(), names_.size());
  for (const auto& [item, result] : results) {
    expect_done(result);
    EXPECT_EQ(result.device, "reference");
  }
}

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

// ---- inputs that fail -------------------------------------------------------------------------------

TEST_F(BatchTest, ABadImageCostsItselfOnly) {
  std::vector<BatchItem> with_bad = items();
  save_text(in_.file("text.png"), "no image");
  const std::string good = load_text(in_.file(names_[0]));
  save_text(in_.file("half.png"), good.substr(0, good.size() / 2));
  ::mkfifo(in_.file("fifo.png").c_str(), 0600);
  fs::create_directory(in_.file("folder.png"));
  for (const char* name : {"text.png", "half.png", "missing.png", "fifo.png", "folder.png"})
    with_bad.insert(with_bad.begin() + 3,
                    {in_.file(name), out_.file(std::string(name) + ".png"), Format::png});
  for (const int jobs : {1, 2, 8}) {
    for (const bool by_lane : {false, true}) {
      BatchSettings with = settings(jobs);
      if (by_lane) with.find_lanes = offering(lanes({{}}));
      Batch batch(with_bad, std::move(with));
      std::size_t failed = 0;
      for (const auto& [item, result] : run(batch)) {
        if (!result.failed) continue;
        ++failed;
        EXPECT_EQ(result.failed, ErrorKind::input);
        EXPECT_TRUE(result.reason.starts_with(with_bad[item].input + ": ")) << result.reason;
      }
      EXPECT_EQ(failed, 5U);
      for (const std::string& name : names_) EXPECT_EQ(load(out_.file(name + ".png")), expected_.at(name));
      EXPECT_EQ(out_.names().size(), names_.size());
    }
  }
}

TEST_F(BatchTest, FailFastEndsWithTheFirst) {
  std::vector<BatchItem> with_bad = items();
  with_bad.insert(with_bad.begin() + 2, {in_.file("missing.png"), out_.file("x.png"), Format::png});
  BatchSettings with = settings(1);
  with.fail_fast = true;
  Batch batch(with_bad, std::move(with));
  const auto results = run(batch);
  EXPECT_EQ(results.size(), 3U);
  EXPECT_TRUE(results.at(2).failed);
}

TEST_F(BatchTest, AnOutputThatCannotBeWrittenEndsTheBatch) {
  save_text(out_.file("file"), "in the way");
  std::vector<BatchItem> all = items();
  for (BatchItem& item : all) item.output = out_.file("file/") + fs::path(item.output).filename().string();
  Batch batch(all, settings(2));
  const auto results = run(batch);
  EXPECT_LE(results.size(), 4U);
  ASSERT_TRUE(batch.fatal());
  EXPECT_EQ(batch.fatal()->kind(), ErrorKind::output);
  EXPECT_EQ(load_text(out_.file("file")), "in the way");
}

// ---- memory and stopping ----------------------------------------------------------------------------

TEST_F(BatchTest, AdmittedImagesStayWithinTheBudget) {
  constexpr std::int64_t kBudget = std::int64_t{2} << 20;  // one or two of the largest at a time
  for (const bool by_lane : {false, true}) {
    BatchSettings with = settings(8);
    with.memory_bytes = kBudget;
    with.memory_is_limit = true;
    if (by_lane) with.find_lanes = offering(lanes({{}}));
    Batch batch(items(), std::move(with));
    expect_all_done(batch);
    EXPECT_LE(batch.peak_admitted_bytes(), kBudget);
    EXPECT_GT(batch.peak_admitted_bytes(), kBudget / 2);
  }
}

TEST_F(BatchTest, FilesThatWaitForMemoryCountToo) {
  // Files of 2 MB that need some 5 MB each: two at a time, and not many read beside them.
  const Image image = synthesize(parse_pattern("photo"), {1000, 700, 3}, 1);
  const auto writer = make_writer(Format::bmp, image.shape());
  writer->write_rows(image.view());
  const std::vector<std::byte> bytes = writer->finish().joined();
  std::vector<BatchItem> large;
  for (int i = 0; i < 12; ++i) {
    const std::string name = "large" + std::to_string(i);
    save(in_.file(name), bytes);
    large.push_back({in_.file(name), out_.file(name), Format::png});
  }
  large.push_back({in_.file("missing"), out_.file("missing"), Format::png});
  for (const bool by_lane : {false, true}) {
    for (const int jobs : {1, 8}) {
      BatchSettings with = settings(jobs);
      with.memory_bytes = std::int64_t{12} << 20;
      with.memory_is_limit = true;
      if (by_lane) with.find_lanes = offering(lanes({{}}));
      Batch batch(large, std::move(with));
      const auto results = run(batch);
      EXPECT_EQ(results.size(), large.size());
      for (const auto& [item, result] : results)
        EXPECT_EQ(result.failed.has_value(), item == 12) << result.reason;
      EXPECT_LE(batch.peak_admitted_bytes(), std::int64_t{12} << 20);
    }
  }
}

TEST_F(BatchTest, AnImageBeyondTheBudgetFailsOrRunsAlone) {
  for (const bool limit : {true, false}) {
    BatchSettings with = settings(4);
    with.memory_bytes = std::int64_t{1} << 16;
    with.memory_is_limit = limit;
    Batch batch(items(), std::move(with));
    const auto results = run(batch);
    EXPECT_EQ(results.size(), names_.size());
    for (const auto& [item, result] : results) {
      if (limit) {
        EXPECT_EQ(result.failed, ErrorKind::memory);
      } else {
        expect_done(result);
      }
    }
  }
}

TEST_F(BatchTest, StopBeginsNoMoreAndFinishesWhatItBegan) {
  for (const bool by_lane : {false, true}) {
    BatchSettings with = settings(2);
    if (by_lane) with.find_lanes = offering(lanes({{.start_ms = 5}}));
    Batch batch(items(), std::move(with));
    std::size_t results = 0;
    while (results == 0) results += batch.next(std::chrono::seconds(1)) ? 1U : 0U;
    batch.stop();
    for (const auto& [item, result] : run(batch)) {
      expect_done(result);
      ++results;
    }
    EXPECT_TRUE(batch.finished());
    EXPECT_EQ(out_.names().size(), results);
    for (const std::string& name : out_.names()) {
      EXPECT_EQ(load(out_.file(name)), expected_.at(name.substr(0, name.size() - 4)));
      fs::remove(out_.file(name));
    }
  }
}

TEST_F(BatchTest, EndingItEarlyWaitsForWhatItBegan) {
  for (int i = 0; i < 10; ++i) {
    BatchSettings with = settings(3);
    if (i % 2 == 0) with.find_lanes = offering(lanes({{.start_ms = i}}));
    const Batch batch(items(), std::move(with));
    std::this_thread::sleep_for(std::chrono::milliseconds(i));
  }
  for (const std::string& name : out_.names())
    EXPECT_EQ(load(out_.file(name)), expected_.at(name.substr(0, name.size() - 4)));
}

TEST_F(BatchTest, SpansSayWhoDidWhat) {
  BatchSettings with = settings(2);
  with.find_lanes = offering(lanes({{}}));
  with.keep_spans = true;
  Batch batch(items(), std::move(with));
  for (const auto& [item, result] : run(batch)) {
    for (const char* part : {"read", "decode", "upload", "gray", "download", "encode", "write"}) {
      const auto span = std::ranges::find_if(result.spans, [&](const Span& one) {
        return one.name == part || (std::string_view(part) == "decode" && is_decode_row(one.name));
      });
      ASSERT_NE(span, result.spans.end()) << part;
      EXPECT_TRUE(span->track.starts_with(span->kind == SpanKind::host ? "worker " : "lane:0 slot "))
          << span->track;
      EXPECT_GE(span->start_ns, result.start_ns);
      EXPECT_LE(span->end_ns, result.end_ns + 1);
    }
    EXPECT_GT(result.busy[static_cast<std::size_t>(Part::decode)], 0);
    EXPECT_GT(result.busy[static_cast<std::size_t>(Part::write)], 0);
  }
}

TEST_F(BatchTest, NothingToDoIsDoneAtOnce) {
  Batch batch(std::vector<BatchItem>(), settings(4));
  EXPECT_FALSE(batch.next(std::chrono::seconds(10)));
  EXPECT_TRUE(batch.finished());
}

}  // namespace
}  // namespace imgpipe::test
