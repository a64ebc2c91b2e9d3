// Parts of a batch in isolation: progress line, percentiles, totals, growing files.
#include <string>

#include <gtest/gtest.h>

#include "app/batch/batch_report.h"
#include "app/batch/batch_set_up.h"
#include "app/batch/batch_totals.h"
#include "app/files/growing_file.h"
#include "app/process_options/process_options.h"
#include "app/progress.h"
#include "images/error.h"
#include "tests/support/files.h"

namespace imgpipe::test::batch_parts_test {
namespace {

TEST(Memory, BatchMemoryExcludesPerImageRecords) {
  ProcessOptions options;
  options.execution.device = "reference";
  options.execution.threads = 1;
  options.execution.memory_bytes = std::int64_t{4} << 30;
  const auto memory_with = [&](std::size_t images) {
    return set_up_batch(options, images).settings.memory_bytes;
  };
  constexpr std::size_t kImages = 10'000'000;
  constexpr std::int64_t kSlack = std::int64_t{8} << 20;  // allocations of the test itself in the meantime
  constexpr std::int64_t kKept = kImages * (sizeof(BatchFailure) + sizeof(double));
  EXPECT_NEAR(static_cast<double>(memory_with(0) - memory_with(kImages)), static_cast<double>(kKept), kSlack);
  options.reports.failed_file = "failed";
  EXPECT_NEAR(static_cast<double>(memory_with(0) - memory_with(kImages)), static_cast<double>(kKept), kSlack);
  options.shard = Shard{};  // a shard also keeps the names of its finished inputs
  EXPECT_GE(memory_with(0) - memory_with(kImages), kKept + static_cast<std::int64_t>(kImages) * 100);
}

TEST(ProgressBar, ShowsProgressRateAndTimeLeft) {
  const auto bar = [](std::size_t total, std::size_t done, std::size_t failed, std::int64_t pixels,
                      double seconds, std::size_t columns) {
    return progress_bar({.total = total + 7,
                         .done = done,
                         .failed = failed,
                         .skipped = 7,
                         .pixels = pixels,
                         .seconds = seconds},
                        columns);
  };
  EXPECT_EQ(bar(500, 0, 0, 0, 0, 200), "[                    ] 0/500");
  EXPECT_EQ(bar(500, 248, 2, 2'000'000'000, 10, 200),
            "[==========          ] 250/500  24.8 images/s  200.0 MP/s  0:10 left  2 failed");
  EXPECT_EQ(bar(100'000, 10, 0, 10, 10, 200).substr(23), "10/100000  1.0 images/s  0.0 MP/s  27:46:30 left");
  EXPECT_EQ(bar(500, 500, 0, 0, 1, 10).size(), 10U);
  EXPECT_NO_THROW((void)bar(0, 0, 0, 0, 0, 0));
}

TEST(Percentile, NearestRank) {
  const std::vector<double> sorted{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  EXPECT_EQ(percentile(sorted, 0.5), 5);
  EXPECT_EQ(percentile(sorted, 0.9), 9);
  EXPECT_EQ(percentile(sorted, 0.99), 10);
  EXPECT_EQ(percentile(sorted, 1), 10);
  EXPECT_EQ(percentile(sorted, 0), 1);
  EXPECT_EQ(percentile({}, 0.5), 0);
}

TEST(BatchTotals, SharesAreRelativeToEachPartsTime) {
  BatchTotals totals;
  totals.images = 3;
  totals.jobs = 2;
  totals.wall_s = 1;
  BatchResult result;
  result.device = "cuda:0";
  result.header.shape = {100, 10, 3};
  result.end_ns = 400'000'000;
  result.busy[static_cast<std::size_t>(Part::decode)] = 500'000'000;
  for (const std::int64_t start : {0, 50'000'000}) {  // on two slots, overlapping: 150 ms in all
    result.on_lane[static_cast<std::size_t>(Part::upload)] = {start, start + 100'000'000};
    totals.add(result, BatchFile());
  }
  result.failed = ErrorKind::input;
  result.reason = "b: broken";
  totals.add(result, BatchFile());
  EXPECT_EQ(totals.done, 2U);
  EXPECT_EQ(totals.failed(), 1U);
  EXPECT_EQ(totals.not_done(), 0U);
  EXPECT_EQ(totals.pixels, 2000);
  const auto parts = totals.parts();
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].part, "decode");
  EXPECT_EQ(parts[0].by, "workers");
  EXPECT_DOUBLE_EQ(parts[0].share, 0.75) << "1.5 s of two workers' second";
  EXPECT_EQ(parts[1].by, "cuda:0");
  EXPECT_DOUBLE_EQ(parts[1].busy_s, 0.15);
  EXPECT_NE(batch_table(totals, ProcessOptions()).find("3 images: 2 done, 0 skipped, 1 failed"),
            std::string::npos);
}

TEST(GrowingFile, GrowsAndReportsWriteErrors) {
  const TemporaryDirectory directory;
  {
    GrowingFile file(directory.file("lines"));
    file.add("one\n");
    file.flush();
    EXPECT_EQ(load_text(directory.file("lines")), "one\n");
    file.add(std::string(100'000, 'x'));
    file.close();
  }
  EXPECT_EQ(load_text(directory.file("lines")).size(), 100'004U);
  EXPECT_THROW(GrowingFile(directory.file("missing/lines")), Error);
  GrowingFile full("/dev/full");
  full.add("text");
  EXPECT_THROW(full.flush(), Error);
}

}  // namespace
}  // namespace imgpipe::test::batch_parts_test
