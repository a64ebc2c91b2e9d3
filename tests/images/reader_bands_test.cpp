// Readers that give bands to several threads, through the engines: the results equal those of reading row by
// row, bands are begun in order and read once each, and every failure ends the run.
#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/jpeg/mcu_rows.h"
#include "images/error.h"
#include "pipeline/engine.h"
#include "tests/support/banded_reader.h"
#include "tests/support/images.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::reader_bands_test {
namespace {

Image make_image(Shape shape) {
  Image image(shape);
  fill({frame_type_of(shape), {image.view(), {}, {}, {}}}, "noise", 5);
  return image;
}

// A request to an engine.
struct JobOptions {
  std::string stages;
  bool streamed = true;
  int repeat = 0;
  bool keep_source = false;
  Format format = Format::png;
};

std::string text_of(const JobOptions& options, const Image& image, int threads) {
  return "'" + options.stages + "' " + std::string(format_info(options.format).name) + " threads " +
         std::to_string(threads) + (options.streamed ? " streamed " : " staged ") +
         (options.keep_source ? "keeps source " : "") + "repeat " + std::to_string(options.repeat) + " " +
         std::to_string(image.shape().width) + "x" + std::to_string(image.shape().height) + "x" +
         std::to_string(image.shape().channels);
}

Outcome run(Engine& engine, std::unique_ptr<Reader> reader, const JobOptions& options) {
  Job job;
  const std::vector<StageRequest> stages =
      options.stages.empty() ? std::vector<StageRequest>() : parse_stages(options.stages);
  job.plan = make_plan(stages, reader->header().shape);
  job.writer = make_writer(options.format, job.plan.output);
  job.reader = std::move(reader);
  job.keep_pixels = !options.streamed;
  job.keep_outputs = !options.streamed;
  job.keep_source = options.keep_source;
  job.repeat = options.repeat;
  return engine.run(std::move(job));
}

Outcome run_by_rows(const Image& image, const JobOptions& options) {
  JobOptions whole = options;
  whole.streamed = false;
  return run(*make_reference_engine(), make_memory_reader(image.untyped_view()), whole);
}

// Returns the bytes that spans with this name decoded.
std::int64_t decoded_bytes(const Outcome& outcome, std::string_view row) {
  std::int64_t bytes = 0;
  for (const Span& span : outcome.timeline.spans()) bytes += span.name == row ? span.bytes : 0;
  return bytes;
}

void expect_equal(const Image& image, const JobOptions& options, const Outcome& expected, int threads,
                  const BandedBehaviour& behaviour) {
  SCOPED_TRACE(text_of(options, image, threads) + (behaviour.waits_for_earlier ? " waits" : ""));
  BandedLog log;
  const Outcome outcome = run(*make_cpu_engine(threads),
                              std::make_unique<BandedReader>(image.untyped_view(), behaviour, log), options);
  ASSERT_FALSE(outcome.error);
  ASSERT_EQ(log.faults, std::vector<std::string>());
  ASSERT_FALSE(log.by_rows);
  ASSERT_TRUE(log.complete(image.shape().height));
  ASSERT_EQ(decoded_bytes(outcome, "decode (parallel)"), image.shape().bytes());
  ASSERT_EQ(outcome.histograms, expected.histograms);
  ASSERT_TRUE(outcome.file.joined() == expected.file.joined());
  if (options.keep_source) {
    ASSERT_EQ(first_difference(image.view(), std::as_const(outcome.source).view()), "");
  }
}

const std::vector<std::string>& plans() {
  static const std::vector<std::string> lists{"gray,hist,contrast,smooth",
                                              "gray,smooth",
                                              "smooth",
                                              "resize:0:150",
                                              "resize:0:9",
                                              "smooth,smooth,resize:30:0:area,smooth",
                                              "hist",
                                              ""};
  return lists;
}

TEST(ReaderBands, FileDoesNotDependOnBandsOrThreads) {
  const int step = kSanitized ? 7 : 1;
  for (int height = 1; height <= 70; height += step) {
    const Image image = make_image({23, height, height % 4 + 1});
    for (std::size_t i = 0; i < plans().size(); ++i) {
      const JobOptions options{plans()[i]};
      const Outcome expected = run_by_rows(image, options);
      ASSERT_FALSE(expected.error) << options.stages;
      for (const int threads : {1, 2, 3, 7}) {
        expect_equal(image, options, expected, threads,
                     {.waits_for_earlier = (static_cast<std::size_t>(height) + i) % 2 == 0, .seed = 0});
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Shapes whose rows range from a few bytes to more than a band may hold; writers with and without strips.
TEST(ReaderBands, AwkwardSizesWithWaitsAndEveryWriter) {
  for (const Shape& shape : {Shape{1, 1, 3}, Shape{5, 1203, 3}, Shape{20011, 90, 1}, Shape{1201, 997, 3}}) {
    const Image image = make_image(shape);
    for (const std::string& stages : plans()) {
      for (const Format format : {Format::png, Format::bmp, Format::jpeg}) {
        JobOptions options{stages};
        options.format = format;
        if (kSanitized && shape.pixels() > 10'000) continue;
        if (shape.width > 1000 && (format == Format::bmp || stages.starts_with("smooth,"))) continue;
        const Outcome expected = run_by_rows(image, options);
        if (expected.error) continue;  // a size that this writer does not support
        for (const int threads : {1, 3}) {
          expect_equal(image, options, expected, threads, {.waits_for_earlier = threads == 3, .seed = 17});
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(ReaderBands, UnstreamedRunsReadIntoTheWholeImage) {
  for (const Shape& shape : {Shape{1, 1, 4}, Shape{33, 70, 3}, Shape{700, 601, 3}, Shape{90, 333, 2}}) {
    if (kSanitized && shape.width > 100) continue;
    const Image image = make_image(shape);
    for (const std::string& stages : plans()) {
      for (const int repeat : {0, 2}) {
        for (const bool keep_source : {false, true}) {
          JobOptions options{stages, false};
          options.repeat = repeat;
          options.keep_source = keep_source;
          const Outcome expected = run_by_rows(image, options);
          for (const int threads : {1, 2, 7}) {
            expect_equal(image, options, expected, threads, {.waits_for_earlier = true, .seed = 3});
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

// Streamed plans hold the whole decoded image if a later chain reads it.
TEST(ReaderBands, GreyImageReadTwice) {
  const Image image = make_image({700, 601, 1});
  for (const char* stages : {"hist,contrast,smooth", "contrast", "hist,smooth", "smooth,contrast,smooth"}) {
    const JobOptions options{stages};
    const Outcome expected = run_by_rows(image, options);
    for (const int threads : {1, 2, 3, 7}) {
      expect_equal(image, options, expected, threads, {.waits_for_earlier = threads == 2, .seed = 11});
      if (HasFatalFailure()) return;
    }
  }
}

// Checks the benefit: with several threads, several bands are read at the same time, by more than one thread.
TEST(ReaderBands, ThreadsReadConcurrently) {
  const Image image = make_image({2000, 800, 3});
  int at_once = 0;
  for (int i = 0; i < 20 && at_once < 2; ++i) {
    BandedLog log;
    const Outcome outcome =
        run(*make_cpu_engine(4),
            std::make_unique<BandedReader>(image.untyped_view(), BandedBehaviour{.seed = 7}, log), {"gray"});
    ASSERT_FALSE(outcome.error);
    at_once = log.max_at_once;
  }
  EXPECT_GE(at_once, 2);
}

std::string reason_of(const Outcome& outcome) {
  try {
    std::rethrow_exception(outcome.error);
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(ReaderBands, FailureAtAnyRowEndsTheJobWithItsError) {
  constexpr std::int64_t kHeight = 70;
  const Image image = make_image({211, kHeight, 3});
  for (const char* stages : {"gray,hist,contrast,smooth", "smooth", "resize:0:150", ""}) {
    for (const int threads : {1, 2, 3, 7}) {
      const std::unique_ptr<Engine> engine = make_cpu_engine(threads);
      for (std::int64_t row = 0; row < kHeight; row += kSanitized ? 9 : 1) {
        for (const bool streamed : {true, false}) {
          JobOptions options{stages, streamed};
          SCOPED_TRACE(text_of(options, image, threads) + " row " + std::to_string(row));
          BandedLog log;
          const BandedBehaviour behaviour{
              .fails_at = row, .waits_for_earlier = row % 2 == 0, .seed = static_cast<std::uint64_t>(row)};
          const Outcome outcome =
              run(*engine, std::make_unique<BandedReader>(image.untyped_view(), behaviour, log), options);
          ASSERT_TRUE(outcome.error);
          ASSERT_EQ(reason_of(outcome), "row " + std::to_string(row) + " is broken on purpose");
          ASSERT_EQ(log.faults, std::vector<std::string>());
          ASSERT_TRUE(outcome.file.parts.empty());
        }
      }
      // The engine accepts another job.
      const JobOptions options{stages};
      expect_equal(image, options, run_by_rows(image, options), threads, {});
      if (HasFatalFailure()) return;
    }
  }
}

// A writer that fails while other bands are being read.
class FullWriter final : public Writer {
 public:
  explicit FullWriter(std::int64_t strip_rows) : strip_rows_(strip_rows) {}
  void write_rows(ConstHostView) override { throw Error(ErrorKind::memory, "full"); }
  [[nodiscard]] std::int64_t strip_rows() const noexcept override { return strip_rows_; }
  void write_strip(std::int64_t first, ConstHostView) override {
    if (first > 0) throw Error(ErrorKind::memory, "full");
  }
  [[nodiscard]] std::int64_t working_bytes() const override { return 0; }
  EncodedFile finish() override { return {}; }

 private:
  std::int64_t strip_rows_;
};

TEST(ReaderBands, FailingWriterEndsTheReading) {
  const Image image = make_image({300, 500, 3});
  for (const std::int64_t strip_rows : {0, 16}) {
    for (const int threads : {1, 2, 7}) {
      BandedLog log;
      Job job;
      job.reader = std::make_unique<BandedReader>(
          image.untyped_view(), BandedBehaviour{.waits_for_earlier = true, .seed = 23}, log);
      job.plan = make_plan(parse_stages("gray,smooth"), image.shape());
      job.keep_pixels = false;
      job.writer = std::make_unique<FullWriter>(strip_rows);
      const Outcome outcome = make_cpu_engine(threads)->run(std::move(job));
      ASSERT_TRUE(outcome.error);
      EXPECT_EQ(reason_of(outcome), "full");
      EXPECT_EQ(log.faults, std::vector<std::string>());
    }
  }
}

TEST(ReaderBands, RowNamesTheDecoder) {
  const Image image = make_image({700, 601, 3});
  JobOptions options{"gray"};
  options.format = Format::bmp;  // its bands are smaller than PNG's strips
  for (const int threads : {1, 3}) {
    BandedLog log;
    const Outcome all =
        run(*make_cpu_engine(threads),
            std::make_unique<BandedReader>(image.untyped_view(), BandedBehaviour(), log), options);
    EXPECT_EQ(decoded_bytes(all, "decode (parallel)"), image.shape().bytes());
    EXPECT_EQ(decoded_bytes(all, "decode"), 0);
    BandedLog other;
    const BandedBehaviour behaviour{.switches_at = 300, .waits_for_earlier = true};
    const Outcome part = run(*make_cpu_engine(threads),
                             std::make_unique<BandedReader>(image.untyped_view(), behaviour, other), options);
    EXPECT_GT(decoded_bytes(part, "decode (parallel)"), 0);
    EXPECT_GT(decoded_bytes(part, "decode"), 0);
    EXPECT_EQ(decoded_bytes(part, "decode") + decoded_bytes(part, "decode (parallel)"),
              image.shape().bytes());
  }
  const Outcome rows = run(*make_cpu_engine(3), make_memory_reader(image.untyped_view()), options);
  EXPECT_EQ(decoded_bytes(rows, "decode"), image.shape().bytes());
}

// In a tall, narrow image, steps grow with the number of rows, for one band or many.
TEST(McuRows, StepsGrowLinearlyWithRows) {
  const auto steps = [](std::int64_t height, std::int64_t band_rows, std::int64_t open_bands) {
    McuRows rows;
    std::deque<McuRows::Walk> walks;
    const auto finish_first = [&] {
      std::int64_t row = 0;
      while (!rows.are_ready(walks.front())) {
        EXPECT_TRUE(rows.take_pending(walks.front(), height, row));
        rows.set_ready(row, rows.take_free_samples());
      }
      rows.end(walks.front());
      walks.pop_front();
    };
    for (std::int64_t first = 0; first < height; first += band_rows) {
      const std::int64_t lowest = std::max<std::int64_t>(first - 1, 0);
      walks.push_back(rows.begin({lowest, std::min(first + band_rows, height)}, lowest));
      if (static_cast<std::int64_t>(walks.size()) == open_bands) finish_first();
    }
    while (!walks.empty()) finish_first();
    return rows.steps();
  };
  for (const std::int64_t height : {1000, 2000, 4000, 8190}) {
    EXPECT_LE(steps(height, height, 1), 10 * height);
    EXPECT_LE(steps(height, 1, 1), 20 * height);
    EXPECT_LE(steps(height, 64, 3), 12 * height);
    EXPECT_LE(steps(height, 7, 16), 12 * height);
  }
}

}  // namespace
}  // namespace imgpipe::test::reader_bands_test
