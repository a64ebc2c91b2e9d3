// The batch without the command line. Whatever the jobs, lanes, faults and memory, every valid image is
// processed exactly, and every failure is reported.
#include "pipeline/jobs/batch.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "pipeline/decode_row.h"
#include "tests/support/batch_folder.h"
#include "tests/support/files.h"
#include "tests/support/host_lane.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::batch_test {
namespace {

namespace fs = std::filesystem;

TEST_F(BatchTest, BytesDoNotDependOnJobs) {
  for (const int jobs : {1, 2, 3, 8, 50}) {
    SCOPED_TRACE(jobs);
    Batch batch(items(), settings(jobs));
    expect_all_done(batch);
  }
}

TEST_F(BatchTest, BytesDoNotDependOnThreads) {
  for (const auto& [jobs, threads] : {std::pair{1, 2}, std::pair{2, 2}, std::pair{2, 7}, std::pair{50, 50}}) {
    SCOPED_TRACE(threads);
    Batch batch(items(), settings(jobs, threads));
    expect_all_done(batch);
  }
}

// The threads of a job share the tiles; each thread computes some of the tables.
TEST_F(BatchTest, TablesDoNotDependOnThreads) {
  const std::string stages = "clahe:3:4,smooth";
  for (const std::string& name : names_) expected_[name] = reference_file(in_.file(name), stages);
  for (const auto& [jobs, threads] : {std::pair{1, 2}, std::pair{2, 3}}) {
    SCOPED_TRACE(threads);
    BatchSettings tiles = settings(jobs, threads);
    tiles.stages = parse_stages(stages);
    Batch batch(items(), tiles);
    expect_all_done(batch);
  }
}

TEST_F(BatchTest, ReferenceProducesTheSameBytes) {
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

// ---- inputs that fail -------------------------------------------------------------------------------

TEST_F(BatchTest, BadImageDoesNotAffectOthers) {
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

TEST_F(BatchTest, FailFastStopsAtTheFirstFailure) {
  std::vector<BatchItem> with_bad = items();
  with_bad.insert(with_bad.begin() + 2, {in_.file("missing.png"), out_.file("x.png"), Format::png});
  for (const bool fail_fast : {true, false}) {
    BatchSettings with = settings(1);
    with.fail_fast = fail_fast;
    if (!fail_fast) with.is_hopeless = [] { return true; };
    Batch batch(with_bad, std::move(with));
    const auto results = run(batch);
    EXPECT_EQ(results.size(), 3U);
    EXPECT_TRUE(results.at(2).failed);
  }
}

TEST_F(BatchTest, UnwritableOutputEndsTheBatch) {
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

TEST_F(BatchTest, FilesWaitingForMemoryCount) {
  // Files of 2 MB that need about 5 MB each: two are processed at a time, and few others are read ahead.
  constexpr std::size_t kLarge = kSanitized ? 5 : 12;
  const Image image = synthesize(parse_pattern("photo"), {1000, 700, 3}, 1);
  const auto writer = make_writer(Format::bmp, image.shape());
  writer->write_rows(image.view());
  const std::vector<std::byte> bytes = writer->finish().joined();
  std::vector<BatchItem> large;
  for (std::size_t i = 0; i < kLarge; ++i) {
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
        EXPECT_EQ(result.failed.has_value(), item == kLarge) << result.reason;
      EXPECT_LE(batch.peak_admitted_bytes(), std::int64_t{12} << 20);
    }
  }
}

TEST_F(BatchTest, ImageBeyondTheBudgetFailsOrRunsAlone) {
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

TEST_F(BatchTest, StopFinishesOnlyBegunImages) {
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

TEST_F(BatchTest, DestructorWaitsForBegunImages) {
  for (int i = 0; i < 10; ++i) {
    BatchSettings with = settings(3);
    if (i % 2 == 0) with.find_lanes = offering(lanes({{.start_ms = i}}));
    const Batch batch(items(), std::move(with));
    std::this_thread::sleep_for(std::chrono::milliseconds(i));
  }
  for (const std::string& name : out_.names())
    EXPECT_EQ(load(out_.file(name)), expected_.at(name.substr(0, name.size() - 4)));
}

TEST_F(BatchTest, SpansNameThreadsAndDevices) {
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

TEST_F(BatchTest, EmptyBatchEndsAtOnce) {
  Batch batch(std::vector<BatchItem>(), settings(4));
  EXPECT_FALSE(batch.next(std::chrono::seconds(10)));
  EXPECT_TRUE(batch.finished());
}

}  // namespace
}  // namespace imgpipe::test::batch_test
