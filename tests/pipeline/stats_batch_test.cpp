// Tests statistics of a batch without output files.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/image.h"
#include "images/synth.h"
#include "pipeline/jobs/batch.h"
#include "pipeline/statistics/counting_writer.h"
#include "pipeline/statistics/image_statistics.h"
#include "pipeline/statistics/sample_counts.h"
#include "tests/support/files.h"

namespace imgpipe::test::stats_batch_test {
namespace {

class StatsBatch : public testing::Test {
 protected:
  void SetUp() override {
    for (std::uint64_t i = 0; i < 20; ++i) {
      const Shape shape{60 + static_cast<std::int64_t>(i), 40, i % 3 == 0 ? 1 : 3};
      const Image image = synthesize(parse_pattern("photo"), shape, i + 1);
      const auto writer = make_writer(Format::png, shape);
      writer->write_rows(image.view());
      save(directory_.file(std::to_string(i) + ".png"), writer->finish().joined());
      expected_.add([&] {
        SampleCounts counts(shape.channels, Sample::u8);
        counts.count(std::as_const(image).untyped_view());
        return counts;
      }());
    }
  }

  struct Results {
    std::size_t done = 0;
    std::vector<std::string> reasons;
    bool fatal = false;
  };
  Results run(BatchSettings settings) {
    const auto item = [this](std::size_t i) {
      return BatchItem{directory_.file(std::to_string(i) + ".png"), "", Format::png};
    };
    Batch batch({20, item}, std::move(settings));
    Results results;
    while (!batch.finished()) {
      const std::optional<BatchResult> result = batch.next(std::chrono::milliseconds(50));
      if (!result) continue;
      if (result->failed) results.reasons.push_back(result->reason);
      results.done += result->failed ? 0 : 1;
    }
    results.fatal = batch.fatal().has_value();
    return results;
  }

  static void expect_same(const ImageGroup& got, const ImageGroup& expected) {
    EXPECT_EQ(got.images, expected.images);
    ASSERT_EQ(got.color.size(), expected.color.size());
    for (std::size_t c = 0; c < got.color.size(); ++c)
      EXPECT_EQ(got.color[c].narrow, expected.color[c].narrow);
  }

  TemporaryDirectory directory_;
  StatisticsCollector expected_;
};

TEST_F(StatsBatch, CountsDoNotDependOnJobs) {
  for (const int jobs : {1, 3, 8}) {
    StatisticsCollector collector;
    BatchSettings settings;
    settings.jobs = jobs;
    settings.threads = 4;
    settings.make_row_consumer = [&](const ImageFiles&, const Plan& plan) {
      auto counts = std::make_shared<SampleCounts>();
      return RowConsumer{make_counting_writer(plan.output, counts),
                         [&collector, counts] { collector.add(*counts); }};
    };
    EXPECT_EQ(run(std::move(settings)).done, 20U);
    for (const bool color : {false, true})
      expect_same(collector.groups().at(color), expected_.groups().at(color));
  }
  EXPECT_EQ(directory_.names().size(), 20U);  // nothing was written
}

TEST_F(StatsBatch, RejectionFailsOnlyItsImage) {
  BatchSettings settings;
  settings.jobs = 2;
  settings.make_row_consumer = [&](const ImageFiles& files, const Plan& plan) {
    if (files.number == 3) throw Error(ErrorKind::input, "not wanted");
    return RowConsumer{make_counting_writer(plan.output, std::make_shared<SampleCounts>()),
                       [number = files.number] {
                         if (number == 7) throw Error(ErrorKind::input, "not accepted");
                       }};
  };
  Results results = run(std::move(settings));
  EXPECT_EQ(results.done, 18U);
  EXPECT_FALSE(results.fatal);
  std::ranges::sort(results.reasons);
  ASSERT_EQ(results.reasons.size(), 2U);
  EXPECT_EQ(results.reasons[0], directory_.file("3.png") + ": not wanted");
  EXPECT_EQ(results.reasons[1], directory_.file("7.png") + ": not accepted");
}

}  // namespace
}  // namespace imgpipe::test::stats_batch_test
