// Tests rotated and mirrored images whose stored rows are read in bands: every thread rotates its rows, and
// the result equals that of the same image read row by row.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec_parts.h"
#include "images/error.h"
#include "pipeline/engine.h"
#include "tests/support/banded_reader.h"
#include "tests/support/images.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::oriented_bands_test {
namespace {

const std::vector<Shape>& shapes() {
  // Shapes whose strips have 64 rows, one row or a few rows. Widths and heights include values just above and
  // below the strip height.
  static const std::vector<Shape> all{{1, 1, 3},   {1, 70, 1},    {70, 1, 2},       {37, 200, 3},
                                      {65, 64, 4}, {400, 129, 3}, {120'000, 11, 3}, {700'001, 3, 1}};
  return all;
}

Image make_image(const Shape& shape) {
  Image image(shape);
  fill({frame_type_of(shape), {image.view(), {}, {}, {}}}, "noise", 5);
  return image;
}

std::unique_ptr<Reader> oriented(const Image& image, int orientation, const BandedBehaviour& behaviour,
                                 BandedLog& log) {
  const auto turn = static_cast<Orientation>(orientation);
  return make_oriented_reader(std::make_unique<BandedReader>(image.untyped_view(), behaviour, log, turn),
                              std::pmr::new_delete_resource());
}

Image upright(const Image& image, int orientation) {
  BandedLog log;
  const std::unique_ptr<Reader> reader = oriented(image, orientation, {}, log);
  Image turned(reader->header().shape);
  reader->read_rows(turned.untyped_view());
  return turned;
}

Outcome run(Engine& engine, std::unique_ptr<Reader> reader, const std::string& stages) {
  Job job;
  job.plan =
      make_plan(stages.empty() ? std::vector<StageRequest>() : parse_stages(stages), reader->header().shape);
  job.reader = std::move(reader);
  job.writer = make_writer(Format::bmp, job.plan.output);
  job.keep_pixels = false;
  return engine.run(std::move(job));
}

std::string reason_of(const Outcome& outcome) {
  try {
    std::rethrow_exception(outcome.error);
  } catch (const Error& error) {
    return error.what();
  }
}

class OrientedBands : public testing::TestWithParam<int> {};

TEST_P(OrientedBands, EqualReadingByRows) {
  for (const Shape& shape : shapes()) {
    if (kSanitized && shape.pixels() > 100'000) continue;
    const Image image = make_image(shape);
    const Image turned = upright(image, GetParam());
    for (const char* stages : {"", "smooth", "gray,hist,contrast,smooth"}) {
      const Outcome expected =
          run(*make_reference_engine(), make_memory_reader(turned.untyped_view()), stages);
      for (const int threads : {1, 2, 3, 7}) {
        SCOPED_TRACE(std::to_string(shape.width) + "x" + std::to_string(shape.height) + " '" + stages +
                     "' threads " + std::to_string(threads));
        BandedLog log;
        const BandedBehaviour behaviour{.waits_for_earlier = threads != 2, .seed = threads == 3 ? 9U : 0U};
        const Outcome outcome =
            run(*make_cpu_engine(threads), oriented(image, GetParam(), behaviour, log), stages);
        ASSERT_FALSE(outcome.error);
        ASSERT_EQ(log.faults, std::vector<std::string>());
        ASSERT_FALSE(log.by_rows);
        ASSERT_TRUE(log.complete(shape.height));
        ASSERT_TRUE(outcome.file.joined() == expected.file.joined());
        EXPECT_EQ(outcome.warnings, std::vector<std::string>{"all was read"});
        EXPECT_EQ(outcome.timeline.spans().front().name, "decode (parallel)");
      }
    }
  }
}

TEST_P(OrientedBands, FailureAtAnyRowEndsEveryThread) {
  const Shape shape{4001, 97, 3};
  const Image image = make_image(shape);
  for (const int threads : {1, 2, 7}) {
    const std::unique_ptr<Engine> engine = make_cpu_engine(threads);
    for (std::int64_t row = 0; row < shape.height; row += kSanitized ? 31 : 4) {
      SCOPED_TRACE("row " + std::to_string(row) + " threads " + std::to_string(threads));
      BandedLog log;
      const BandedBehaviour behaviour{
          .fails_at = row, .waits_for_earlier = row % 8 == 0, .seed = static_cast<std::uint64_t>(row)};
      const Outcome outcome = run(*engine, oriented(image, GetParam(), behaviour, log), "smooth");
      ASSERT_TRUE(outcome.error);
      ASSERT_EQ(reason_of(outcome), "row " + std::to_string(row) + " is broken on purpose");
      ASSERT_EQ(log.faults, std::vector<std::string>());
    }
  }
}

// Otherwise a single thread would decode a photograph rotated by a phone.
TEST_P(OrientedBands, ThreadsReadConcurrently) {
  const Image image = make_image({700, 640, 3});
  int at_once = 0;
  for (int i = 0; i < 20 && at_once < 2; ++i) {
    BandedLog log;
    const Outcome outcome = run(*make_cpu_engine(4), oriented(image, GetParam(), {.seed = 7}, log), "gray");
    ASSERT_FALSE(outcome.error);
    at_once = log.max_at_once;
  }
  EXPECT_GE(at_once, 2);
}

// The estimate asks the decoder for the memory of the stored rows that each thread reads.
TEST_P(OrientedBands, ReportMemoryPerBand) {
  const Image image = make_image({4001, 97, 3});
  BandedLog log;
  const auto reader = oriented(image, GetParam(), {.working_bytes = 1000, .bytes_a_row = 10}, log);
  EXPECT_TRUE(reader->has_bands());
  EXPECT_EQ(reader->decoder(), "parallel");
  if (GetParam() == static_cast<int>(Orientation::mirror_horizontal)) {
    EXPECT_EQ(reader->working_bytes(false), 1000);
    EXPECT_EQ(reader->band_bytes(16), 160);
    return;
  }
  const std::int64_t strip_rows = (1 << 19) / (4001 * 3);
  EXPECT_EQ(reader->working_bytes(false), 1000 + strip_rows * 4001 * 3 + image.shape().bytes());
  EXPECT_EQ(reader->band_bytes(16), strip_rows * (4001 * 3 + 10));
}

INSTANTIATE_TEST_SUITE_P(Orientations, OrientedBands, testing::Range(2, 9));

}  // namespace
}  // namespace imgpipe::test::oriented_bands_test
