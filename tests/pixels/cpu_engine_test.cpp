// Compares the cpu engine's files with the reference's for every plan, shape, option and number of threads.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "images/simd.h"
#include "pipeline/engine.h"
#include "pipeline/host/bands.h"
#include "tests/support/images.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::cpu_engine_test {
namespace {

Image make_image(Shape shape, std::uint64_t seed = 9) {
  Image image(shape);
  fill({frame_type_of(shape), {image.untyped_view(), {}, {}, {}}}, "noise", seed);
  return image;
}

// The engine's task, and its settings.
struct JobOptions {
  std::string stages;
  Format format = Format::png;
  bool fuse = false;
  bool streamed = true;
};

Outcome run(Engine& engine, std::unique_ptr<Reader> reader, const JobOptions& options) {
  Job job;
  job.plan = make_plan(parse_stages(options.stages), reader->header().shape, options.fuse);
  job.writer = make_writer(options.format, job.plan.output);
  job.reader = std::move(reader);
  job.keep_pixels = !options.streamed;
  job.keep_outputs = !options.streamed;
  return engine.run(std::move(job));
}

bool has_fused_steps(const std::string& stages, const Shape& shape) {
  const std::vector<StageRequest> list = parse_stages(stages);
  return make_plan(list, shape, true).steps.size() < make_plan(list, shape).steps.size();
}

void expect_equal_files(const Image& image, const JobOptions& options) {
  if (options.fuse && !has_fused_steps(options.stages, image.shape())) return;  // the plan is the same
  const std::unique_ptr<Engine> reference = make_reference_engine();
  JobOptions whole = options;
  whole.streamed = false;
  const Outcome expected = run(*reference, make_memory_reader(image.untyped_view()), whole);
  ASSERT_FALSE(expected.error);
  for (const int threads : {1, 2, 3, 7}) {
    for (const bool streamed : {true, false}) {
      SCOPED_TRACE(options.stages + " threads " + std::to_string(threads) +
                   (streamed ? " streamed" : " staged") + (options.fuse ? " fused " : " ") +
                   std::to_string(image.shape().width) + "x" + std::to_string(image.shape().height) + "x" +
                   std::to_string(image.shape().channels));
      const std::unique_ptr<Engine> engine = make_cpu_engine(threads);
      JobOptions tested = options;
      tested.streamed = streamed;
      const Outcome outcome = run(*engine, make_memory_reader(image.untyped_view()), tested);
      ASSERT_FALSE(outcome.error);
      ASSERT_EQ(outcome.histograms, expected.histograms);
      ASSERT_TRUE(outcome.file.joined() == expected.file.joined());
      ASSERT_EQ(outcome.pixels.empty(), streamed);
    }
  }
}

const std::vector<std::string>& plans() {
  static const std::vector<std::string> lists{"gray,hist,contrast,smooth",
                                              "gray",
                                              "hist",
                                              "smooth",
                                              "contrast",
                                              "smooth,smooth,smooth,smooth,smooth,smooth",
                                              "smooth,hist,contrast,smooth,contrast",
                                              "contrast,gray,smooth",
                                              "resize:50:40,smooth,smooth",
                                              "gray,resize:0:300:area,hist,contrast",
                                              "smooth,resize:40:0:nearest,threshold",
                                              "gray,hist"};
  return lists;
}

// Wide images have many strips and tall ones many bands, in every layout.
TEST(CpuEngine, EveryPlanAndShapeEqualsTheReference) {
  for (const Size& size : {Size{1, 1}, Size{2, 3}, Size{97, 89}, Size{5, 1203}, Size{20011, 90}}) {
    for (int channels = 1; channels <= 4; ++channels) {
      const Image image = make_image({size.width, size.height, channels});
      // Every plan on small images; some plans also on large ones.
      for (std::size_t i = 0; i < plans().size(); ++i) {
        if (size.width > 1000 && (i + static_cast<std::size_t>(channels)) % (kSanitized ? 8 : 4) != 0)
          continue;
        expect_equal_files(image, {plans()[i], Format::png, false, true});
        if (HasFatalFailure()) return;
        expect_equal_files(image, {plans()[i], Format::png, true, true});
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Rows of whole images of this size bypass the caches (Band::bypasses_caches); other threads read them next.
TEST(CpuEngine, LargeImagesEqualTheReference) {
  expect_equal_files(make_image({4099, 2051, 1}),
                     {"flip,gamma:2,rotate:180,contrast:1", Format::pnm, false, true});
  expect_equal_files(make_image({1601, 1771, 3}),
                     {"invert,flip:vertical,resize:1901:1599:linear,flip", Format::pnm, false, true});
  expect_equal_files(make_image({1451, 1003, 3, Sample::u16}),
                     {"gamma:2,rotate:180,contrast,flip,resize:1301:1201:linear", Format::pnm, false, true});
}

// 16-bit samples, and lists that convert between 8 and 16 bits.
TEST(CpuEngine, SixteenBitsEqualTheReference) {
  const std::vector<std::string> lists{"gray,hist,contrast,smooth,depth:8",
                                       "contrast:to=8",
                                       "smooth,hist,contrast:0.5:to=8,smooth",
                                       "contrast:1:stretch=each,depth:8",
                                       "threshold,depth:8",
                                       "gray,smooth:gauss:reflect,threshold,depth:8",
                                       "resize:50:0:area,gamma:2.2,contrast:to=8",
                                       "resize:0:300,invert,hist,depth:8,hist",
                                       "depth:8,contrast:to=16,resize:40:0:nearest,smooth,depth:8",
                                       "depth:float,hist:0.3:0.6,invert,hist,depth:8"};
  for (const Size& size : {Size{1, 1}, Size{2, 3}, Size{97, 89}, Size{5, 1203}, Size{9001, 50}}) {
    for (int channels = 1; channels <= 4; ++channels) {
      for (std::size_t i = 0; i < lists.size(); ++i) {
        if (size.width > 1000 && (i + static_cast<std::size_t>(channels)) % 4 != 0) continue;
        for (const Sample sample : {Sample::u16, Sample::u8}) {
          if (sample == Sample::u8 && i % 4 != 0) continue;
          const Image image = make_image({size.width, size.height, channels, sample});
          expect_equal_files(image, {lists[i], Format::png, false, true});
          expect_equal_files(image, {lists[i], Format::png, true, true});
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// A step evaluates the 65,536 counters once, before its first band.
TEST(CpuEngine, CountsAreEvaluatedOnceForAllBands) {
  const Image image = make_image({700, 4001, 1, Sample::u16});
  for (const std::string stage : {"contrast", "threshold"}) {
    const std::unique_ptr<Engine> engine = make_cpu_engine(3);
    const Outcome outcome = run(*engine, make_memory_reader(image.untyped_view()),
                                {"hist," + stage + ",depth:8", Format::png, false, true});
    ASSERT_FALSE(outcome.error);
    int found = 0;
    int bands = 0;
    for (const Span& span : outcome.timeline.spans()) {
      if (span.name != stage) continue;
      ++(span.bytes == 0 ? found : bands);
    }
    EXPECT_EQ(found, 1) << stage;
    EXPECT_GT(bands, 3) << stage;
  }
}

TEST(CpuEngine, EveryFormatReceivesRowsInOrder) {
  const Image image = make_image({301, 211, 3});
  for (const FormatInfo& info : format_table()) {
    if (!info.writable || info.written_bits == 0) continue;
    SCOPED_TRACE(std::string(info.name));
    expect_equal_files(image, {"gray,hist,contrast,smooth", info.format, false, true});
    if (info.holds_color) expect_equal_files(image, {"contrast,smooth", info.format, false, true});
    if (HasFatalFailure()) return;
  }
}

TEST(CpuEngine, EverySimdTarget) {
  const Image image = make_image({333, 90, 3});
  for (const std::string& target : simd_targets()) {
    use_simd(target);
    EXPECT_EQ(simd_target(), target);
    EXPECT_NE(make_cpu_engine(2)->device_name().find("2 threads, " + target), std::string::npos);
    expect_equal_files(image, {"gray,hist,contrast,smooth", Format::png, false, true});
  }
  use_simd("");
  EXPECT_EQ(simd_target(), simd_targets().front());
}

TEST(Simd, UnknownTargetsAreRejected) {
  for (const char* name : {"avx9", "AVX", " ", "AVX2 ", "\x1b[31m"}) {
    try {
      use_simd(name);
      ADD_FAILURE() << "accepted " << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_NE(std::string(error.what()).find(simd_targets().back()), std::string::npos);
      EXPECT_EQ(std::string(error.what()).find('\x1b'), std::string::npos);
    }
  }
  EXPECT_EQ(simd_target(), simd_targets().front());
}

// Returns generated rows and records the largest number per call; fails at row `breaks_at`.
class WatchedReader final : public Reader {
 public:
  WatchedReader(Shape shape, std::int64_t& max_rows, std::int64_t breaks_at)
      : max_rows_(max_rows), breaks_at_(breaks_at) {
    header_.shape = shape;
  }

 protected:
  void read_next_rows(HostView view) override {
    const HostPlane rows = view.as<Sample8>();
    max_rows_ = std::max(max_rows_, rows.height);
    if (next_row_ + rows.height > breaks_at_) throw Error(ErrorKind::input, "broken on purpose");
    for (std::int64_t y = 0; y < rows.height; ++y, ++next_row_) {
      for (std::int64_t x = 0; x < rows.row_samples(); ++x)
        rows.row(y)[x] = static_cast<Sample8>(next_row_ * 7 + x);
    }
  }

 private:
  std::int64_t& max_rows_;
  std::int64_t breaks_at_;
  std::int64_t next_row_ = 0;
};

TEST(CpuEngine, ColourImageIsNeverHeldWhole) {
  constexpr Shape kShape{4000, 600, 3};
  for (const char* stages : {"gray", "gray,hist", "gray,hist,contrast,smooth", "contrast,smooth", "hist"}) {
    std::int64_t max_rows = 0;
    const Outcome outcome =
        run(*make_cpu_engine(2), std::make_unique<WatchedReader>(kShape, max_rows, kShape.height), {stages});
    ASSERT_FALSE(outcome.error) << stages;
    EXPECT_LT(max_rows, kShape.height / 2) << stages;
  }
}

TEST(CpuEngine, ErrorFailsOnlyItsJob) {
  constexpr Shape kShape{400, 2000, 3};
  for (const int threads : {1, 2, 7}) {
    const std::unique_ptr<Engine> engine = make_cpu_engine(threads);
    for (const std::int64_t breaks_at : {0, 1, 1000, 1999, 2000}) {
      for (const bool streamed : {true, false}) {
        std::int64_t max_rows = 0;
        JobOptions options{"gray,hist,contrast,smooth"};
        options.streamed = streamed;
        const Outcome outcome =
            run(*engine, std::make_unique<WatchedReader>(kShape, max_rows, breaks_at), options);
        ASSERT_EQ(outcome.error == nullptr, breaks_at == kShape.height);
        if (outcome.error) {
          EXPECT_THROW(std::rethrow_exception(outcome.error), Error);
        }
        ASSERT_EQ(outcome.file.parts.empty(), breaks_at != kShape.height);
      }
    }
  }
}

// A writer that fails after some rows.
class FullWriter final : public Writer {
 public:
  FullWriter(std::int64_t strip_rows, std::int64_t fails_at) : strip_rows_(strip_rows), fails_at_(fails_at) {}
  void write_rows(ConstHostView rows) override {
    next_row_ += rows.height;
    if (next_row_ > fails_at_) throw Error(ErrorKind::memory, "full");
  }
  [[nodiscard]] std::int64_t strip_rows() const noexcept override { return strip_rows_; }
  void write_strip(std::int64_t first, ConstHostView) override {
    if (first >= fails_at_) throw Error(ErrorKind::memory, "full");
  }
  [[nodiscard]] std::int64_t working_bytes() const override { return 0; }
  EncodedFile finish() override { return {}; }

 private:
  std::int64_t strip_rows_;
  std::int64_t fails_at_;
  std::int64_t next_row_ = 0;
};

TEST(CpuEngine, FailingWriterEndsTheJob) {
  const Image image = make_image({300, 500, 3});
  for (const std::int64_t strip_rows : {0, 16, 100}) {
    for (const std::int64_t fails_at : {0, 250, 499}) {
      Job job;
      job.reader = make_memory_reader(image.view());
      job.plan = make_plan(parse_stages("gray,contrast,smooth"), image.shape());
      job.keep_pixels = false;
      job.writer = std::make_unique<FullWriter>(strip_rows, fails_at);
      const std::unique_ptr<Engine> engine = make_cpu_engine(3);
      const Outcome outcome = engine->run(std::move(job));
      ASSERT_EQ(outcome.error == nullptr, strip_rows > 0 && fails_at == 499) << strip_rows << " " << fails_at;
    }
  }
}

// The spans cover every step's bytes, summed over all threads.
TEST(CpuEngine, SpansNameEveryStepAndThread) {
  const Image image = make_image({2000, 1000, 3});
  const Outcome outcome =
      run(*make_cpu_engine(2), make_memory_reader(image.view()), {"gray,hist,contrast,smooth"});
  ASSERT_FALSE(outcome.error);
  for (const char* name : {"decode", "gray", "hist", "contrast", "smooth", "encode"}) {
    std::int64_t bytes = 0;
    for (const Span& span : outcome.timeline.spans()) {
      EXPECT_LE(span.start_ns, span.end_ns);
      if (span.name == name) bytes += span.bytes;
    }
    const std::int64_t pixels = image.shape().pixels();
    const std::int64_t expected = std::string(name) == "gray"                                    ? 4 * pixels
                                  : std::string(name) == "decode"                                ? 3 * pixels
                                  : std::string(name) == "hist" || std::string(name) == "encode" ? pixels
                                                                                                 : 2 * pixels;
    EXPECT_EQ(bytes, expected) << name;
  }
}

}  // namespace
}  // namespace imgpipe::test::cpu_engine_test
