// gray of a colour JPEG, which the decoder performs: the same pixels as RGB followed by gray, for every kind
// of file and every request that does without RGB. A failure prints the description of the file.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "images/simd.h"
#include "pipeline/chains.h"
#include "pipeline/engine.h"
#include "tests/support/decoding.h"
#include "tests/support/images.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/made_jpegs.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::jpeg_grey_test {
namespace {

constexpr const char* kRow = "decode+gray (parallel)";
constexpr std::array<const char*, 4> kLists{"gray", "gray:bt709,hist", "gray:opencv,smooth",
                                            "gray,hist,contrast,smooth"};

Job job_of(const FileBytes& file, const std::vector<std::string_view>& lists,
           const DecodeOptions& options = {}) {
  Job job;
  job.reader = open_reader(file, options);
  job.plan = make_branched_plan(lists, job.reader->header().shape);
  job.writer = make_writer(Format::pnm, job.plan.output);
  job.keep_pixels = false;
  return job;
}

bool has_row(const Outcome& outcome, const std::string& name) {
  return std::ranges::find(outcome.timeline.spans(), name, &Span::name) != outcome.timeline.spans().end();
}

template <class Action>
std::optional<ErrorKind> error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.kind();
  }
  return std::nullopt;
}

// Returns the result of the reference, which reads libjpeg-turbo's RGB.
FileBytes two_steps(const FileBytes& file, std::string_view list, DecodeOptions options = {}) {
  options.codec = CodecChoice::turbo;
  const Outcome outcome = make_reference_engine()->run(job_of(file, {list}, options));
  EXPECT_FALSE(outcome.error);
  return outcome.file.joined();
}

class JpegGrey : public testing::Test {
 protected:
  ~JpegGrey() override {
    use_simd("");
    use_band_bytes(0);
  }
};

// Bands of a few rows.
TEST_F(JpegGrey, EqualsGrayOfRgb) {
  const std::vector<std::string> targets = simd_targets();
  const std::array engines{make_cpu_engine(1), make_cpu_engine(3)};
  use_band_bytes(2000);
  int fused = 0;
  int others = 0;
  for (std::uint64_t seed = 0; seed < (kSanitized ? 60 : 400); ++seed) {
    const MadeJpeg jpeg = random_jpeg(seed);
    const FileBytes file = make_jpeg(jpeg);
    const std::string list = kLists[seed % kLists.size()];
    const std::string gray = list.substr(0, list.find(','));
    use_simd("");
    const FileBytes expected = two_steps(file, list);
    for (std::size_t target = 0; target < targets.size(); ++target) {
      if (target > 0 && (seed + target) % 5 != 0) continue;
      use_simd(targets[target]);
      for (const auto& engine : engines) {
        const Outcome outcome = engine->run(job_of(file, {list}));
        ASSERT_FALSE(outcome.error);
        ASSERT_TRUE(outcome.file.joined() == expected)
            << description(jpeg) << " " << list << " " << targets[target] << " " << engine->threads();
        const bool is_color = jpeg.is_plain() && jpeg.components() == 3;
        ASSERT_EQ(has_row(outcome, "decode+" + gray + " (parallel)"), is_color) << description(jpeg);
        ASSERT_EQ(has_row(outcome, gray), !is_color && jpeg.components() > 1) << description(jpeg);
        ++(is_color ? fused : others);
      }
    }
  }
  EXPECT_GT(fused, kSanitized ? 40 : 400);
  EXPECT_GT(others, kSanitized ? 20 : 150);
}

TEST_F(JpegGrey, EqualsGrayOfRgbForEveryOrientationAndScale) {
  use_band_bytes(3000);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const FileBytes file =
        make_jpeg({.h = 2, .v = 2, .orientation = orientation}, noise_image({67, 150, 3}, 5).view());
    for (const int scale : {1, 2, 8}) {
      DecodeOptions options;
      options.scale = scale;
      for (const int threads : {1, 3}) {
        const Outcome outcome = make_cpu_engine(threads)->run(job_of(file, {"gray"}, options));
        ASSERT_FALSE(outcome.error);
        EXPECT_TRUE(has_row(outcome, kRow)) << orientation;
        EXPECT_TRUE(outcome.file.joined() == two_steps(file, "gray", options))
            << orientation << " 1/" << scale << " threads " << threads;
      }
    }
  }
}

// libjpeg-turbo continues in the middle, with RGB.
TEST_F(JpegGrey, EqualsGrayOfDamagedFiles) {
  use_band_bytes(2000);
  const FileBytes whole = make_jpeg({.h = 2, .v = 2, .restart_rows = 1}, noise_image({90, 200, 3}, 8).view());
  int taken_over = 0;
  for (std::size_t size = whole.size() / 4; size < whole.size(); size += whole.size() / 20) {
    const FileBytes file = cut(whole, size);
    for (const int threads : {1, 4}) {
      const Outcome outcome = make_cpu_engine(threads)->run(job_of(file, {"gray"}, lenient()));
      ASSERT_FALSE(outcome.error);
      EXPECT_TRUE(outcome.file.joined() == two_steps(file, "gray", lenient())) << size;
      EXPECT_FALSE(outcome.warnings.empty());
      if (has_row(outcome, "decode+gray")) ++taken_over;
    }
  }
  EXPECT_GT(taken_over, 10);
}

TEST_F(JpegGrey, OtherUsesOfRgbReadIt) {
  const FileBytes file = make_jpeg({.h = 2, .v = 2}, noise_image({64, 50, 3}, 3).view());
  const FileBytes expected = two_steps(file, "gray");
  const auto engine = make_cpu_engine(2);
  const auto expect_gray_row = [&](Job job, const std::string& what) {
    const Outcome outcome = engine->run(std::move(job));
    ASSERT_FALSE(outcome.error);
    EXPECT_FALSE(has_row(outcome, kRow)) << what;
    EXPECT_TRUE(has_row(outcome, "gray")) << what;
    EXPECT_TRUE(outcome.file.joined() == expected) << what;
  };
  Job repeated = job_of(file, {"gray"});
  repeated.repeat = 2;
  expect_gray_row(std::move(repeated), "repeat");
  Job kept = job_of(file, {"gray"});
  kept.keep_source = true;
  expect_gray_row(std::move(kept), "keep_source");
  Job outputs = job_of(file, {"gray"});
  outputs.keep_outputs = true;
  expect_gray_row(std::move(outputs), "keep_outputs");
  expect_gray_row(job_of(file, {"flip", "gray"}), "another branch");
  expect_gray_row(job_of(file, {"none", "gray"}), "the decoded image is a result");
  Job less = job_of(file, {"gray"});
  ASSERT_TRUE(less.reader->use_less_memory());
  expect_gray_row(std::move(less), "less memory");
  // All branches begin with gray.
  for (const auto& lists : {std::vector<std::string_view>{"gray,flip", "gray"}, {"gray", "gray,flip,flip"}}) {
    const Outcome shared = engine->run(job_of(file, lists));
    ASSERT_FALSE(shared.error);
    EXPECT_TRUE(has_row(shared, kRow));
    EXPECT_TRUE(shared.file.joined() == expected);
  }
}

TEST_F(JpegGrey, PlansThatBeginWithGray) {
  const auto begins = [](const std::vector<std::string_view>& lists, const Shape& shape) {
    return begins_with_gray(make_branched_plan(lists, shape));
  };
  const Shape rgb{9, 7, 3};
  EXPECT_TRUE(begins({"gray"}, rgb));
  EXPECT_TRUE(begins({"gray:luma=bt709,smooth"}, rgb));
  EXPECT_TRUE(begins({"gray,smooth", "gray,hist"}, rgb));
  EXPECT_FALSE(begins({"gray", "gray:luma=bt709"}, rgb));
  EXPECT_FALSE(begins({"gray", "none"}, rgb));
  EXPECT_FALSE(begins({"none", "gray"}, rgb));
  EXPECT_FALSE(begins({"gray", "hist"}, rgb));
  EXPECT_FALSE(begins({"flip,gray"}, rgb));
  EXPECT_FALSE(begins({"none"}, rgb));
  EXPECT_FALSE(begins({"gray"}, {9, 7, 1}));
  EXPECT_FALSE(begins_with_gray(make_plan(parse_stages("gray,hist"), rgb, true))) << "one step of a device";
}

TEST_F(JpegGrey, ReaderRules) {
  const FileBytes file = make_jpeg({.h = 2, .v = 2}, noise_image({64, 50, 3}, 3).view());
  const auto reader = open_reader(file);
  ASSERT_TRUE(reader->has_grey_rows());
  reader->use_grey_rows(Luma::bt601);
  EXPECT_EQ(reader->header().shape, (Shape{64, 50, 3}));
  EXPECT_EQ(reader->row_shape(), (Shape{64, 50, 1}));
  EXPECT_FALSE(reader->use_less_memory());
  Image rgb({64, 50, 3});
  EXPECT_EQ(error_of([&] { reader->read_rows(rgb.untyped_view()); }), ErrorKind::usage);
  Image grey({64, 50, 1});
  reader->read_rows(grey.untyped_view());
  EXPECT_EQ(error_of([&] { reader->use_grey_rows(Luma::bt601); }), ErrorKind::usage);
  const auto other = make_memory_reader(rgb.untyped_view());
  EXPECT_FALSE(other->has_grey_rows());
  EXPECT_EQ(error_of([&] { other->use_grey_rows(Luma::bt601); }), ErrorKind::usage);
}

}  // namespace
}  // namespace imgpipe::test::jpeg_grey_test
