// The lab itself: it detects wrong results, times only right ones, and computes its numbers correctly.
#include "lab/pipeline/lab.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "images/synth.h"
#include "kernels/stage.h"
#include "lab/bench/bench.h"
#include "lab/kernels/ladders.h"
#include "lab/pipeline/lab_transfer.h"
#include "lab/pipeline/thread_team.h"
#include "lab/pipeline/toolkit_library.h"
#include "tests/support/cuda_backend.h"

namespace imgpipe::test::lab_test {
namespace {

std::shared_ptr<const LabSubject> subject_of(std::string_view ladder, const char* pattern, Shape shape) {
  return std::make_shared<const LabSubject>(
      make_subject(*find_ladder(ladder), synthesize(parse_pattern(pattern), shape, 7)));
}

const StageVariant& variant_named(const char* stage, std::string_view name) {
  return *std::ranges::find(find_ladder(stage)->variants, name, &StageVariant::name);
}

// ---- detection of wrong results -----------------------------------------------------------------------

void nothing(const StageCall<Host>&, const Share&) {}

void all_but_the_last_pixel(const StageCall<Host>& call, const Share& share) {
  if (share.index > 0) return;
  const HostPlane out = call.out.plane<Sample8>(0);
  const Sample8 before = out.row(out.height - 1)[out.width - 1];
  run_reference(*find_stage("smooth"), call);
  out.row(out.height - 1)[out.width - 1] = before;
}

void off_by_one(const StageCall<Host>& call, const Share& share) {
  if (share.index > 0) return;
  run_reference(*find_stage("smooth"), call);
  const HostPlane out = call.out.plane<Sample8>(0);
  Sample8& sample = out.row(out.height / 2)[out.width / 2];
  sample = static_cast<Sample8>(sample < 255 ? sample + 1 : sample - 1);
}

void one_count_too_many(const StageCall<Host>& call, const Share& share) {
  if (share.index > 0) return;
  run_reference(*find_stage("hist"), call);
  ++call.histogram.data[255];
}

StageVariant share_variant(void (*function)(const StageCall<Host>&, const Share&),
                           Claim claim = Claim::exact) {
  StageVariant variant;
  variant.name = "test";
  variant.share = function;
  variant.claim = claim;
  return variant;
}

class CpuLabTest : public testing::TestWithParam<int> {
 protected:
  std::unique_ptr<LabDevice> lab_ = make_cpu_lab(GetParam());
};

TEST_P(CpuLabTest, WrongVariantIsNeverTimed) {
  lab_->load(subject_of("smooth", "noise", {67, 41, 1}));
  const LabOptions three{3, 0, 0};
  for (const auto& function : {nothing, all_but_the_last_pixel, off_by_one}) {
    const LabResult result = lab_->run(share_variant(function), three);
    EXPECT_EQ(result.status, LabStatus::wrong);
    EXPECT_FALSE(result.timed());
    EXPECT_NE(result.detail.find("differ"), std::string::npos) << result.detail;
  }
  EXPECT_EQ(lab_->run(share_variant(off_by_one), three).detail, "1 pixel differs (max 1)");
  EXPECT_EQ(lab_->run(share_variant(nothing), three).detail.substr(0, 5), "2747 ")
      << "every pixel must be written";
  lab_->load(subject_of("hist", "noise", {67, 41, 1}));
  EXPECT_EQ(lab_->run(share_variant(one_count_too_many), three).detail, "1 bin differs (max 1)");
}

TEST_P(CpuLabTest, LibraryRoundingMayBeOffByOne) {
  lab_->load(subject_of("smooth", "noise", {67, 41, 1}));
  const LabResult near = lab_->run(share_variant(off_by_one, Claim::near), {3, 0, 0});
  EXPECT_EQ(near.status, LabStatus::right);
  EXPECT_EQ(near.detail, "within 1");
  EXPECT_EQ(near.times_us.size(), 3U);
  // The corner belongs to the border, where a library may differ.
  EXPECT_EQ(lab_->run(share_variant(all_but_the_last_pixel, Claim::near), {3, 0, 0}).status,
            LabStatus::right);
  EXPECT_EQ(lab_->run(share_variant(nothing, Claim::near), {3, 0, 0}).status, LabStatus::wrong);
}

TEST_P(CpuLabTest, AllBorderImagesAreNotCompared) {
  for (const Shape& shape : {Shape{4, 41, 1}, Shape{41, 4, 1}, Shape{1, 1, 1}}) {
    lab_->load(subject_of("smooth", "noise", shape));
    EXPECT_EQ(lab_->run(share_variant(nothing, Claim::near), {3, 0, 0}).detail, "all border, not compared");
    EXPECT_EQ(lab_->run(share_variant(nothing), {3, 0, 0}).status, LabStatus::wrong);
  }
  lab_->load(subject_of("smooth", "noise", {5, 5, 1}));
  EXPECT_EQ(lab_->run(share_variant(nothing, Claim::near), {3, 0, 0}).detail.substr(0, 8), "1 pixel ");
}

TEST_P(CpuLabTest, IntentionallyWrongVariantIsTimedAndMarked) {
  lab_->load(subject_of("hist", "noise", {67, 41, 1}));
  const LabResult wrong = lab_->run(share_variant(one_count_too_many, Claim::wrong), {4, 0, 0});
  EXPECT_EQ(wrong.status, LabStatus::wrong_as_claimed);
  EXPECT_EQ(wrong.times_us.size(), 4U);
}

TEST_P(CpuLabTest, StoppedVariantKeepsItsTimes) {
  lab_->load(subject_of("smooth", "noise", {67, 41, 1}));
  const StageVariant& variant = find_ladder("smooth")->variants.front();
  int asked = 0;
  LabOptions options{.repeat = 100, .stop = [&] { return ++asked == 4; }};
  const LabResult some = lab_->run(variant, options);
  EXPECT_EQ(some.status, LabStatus::right);
  EXPECT_EQ(some.times_us.size(), 2U);
  options.stop = [] { return true; };
  EXPECT_FALSE(lab_->run(variant, options).timed());
}

TEST_P(CpuLabTest, EveryCpuVariantIsRightAndTimed) {
  for (const Ladder& ladder : ladder_table()) {
    const Stage& stage = *find_stage(ladder.stage);
    const bool rgb = stage.ports.in.front().layout == Layout::interleaved;
    lab_->load(subject_of(ladder.name, "photo", {131, 77, rgb ? 3 : 1, ladder.sample}));
    for (const StageVariant& variant : ladder.variants) {
      if (variant.kind() == VariantKind::cuda) continue;
      const LabResult result = lab_->run(variant, {5, 0, 0});
      EXPECT_EQ(result.status, LabStatus::right)
          << ladder.name << " " << variant.name << ": " << result.detail;
      EXPECT_EQ(result.times_us.size(), 5U);
      EXPECT_TRUE(std::ranges::is_sorted(result.times_us));
      EXPECT_GT(result.times_us.front(), 0);
      const int threads = variant.kind() == VariantKind::reference ? 1 : GetParam();
      EXPECT_EQ(result.grid, std::to_string(threads) + (threads == 1 ? " thread" : " threads"));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, CpuLabTest, testing::Values(1, 2, 5));

TEST(Lab, CrewRethrowsAThreadsError) {
  ThreadTeam crew(3);
  const auto fail_on_last = [&](int index) {
    if (index + 1 == crew.count()) throw Error(ErrorKind::input, "failed");
  };
  EXPECT_THROW(crew.run(fail_on_last), Error);
  std::atomic<int> shares = 0;
  crew.run([&](int) { ++shares; });
  EXPECT_EQ(shares, crew.count()) << "it works on after an error";
}

TEST(Lab, UnmetRequirementsAreReported) {
  const Shape shape{8773, 5352, 1};
  StageVariant variant = variant_named("hist", "threads-256");
  variant.launch = [](const StageCall<Device>&, const VariantLaunch&) -> CudaStatus { return 0; };
  EXPECT_EQ(unmet_requirement(variant, {0, 128, 0}, shape), "");
  EXPECT_EQ(unmet_requirement(variant, {0, 160, 0}, shape), "needs at most 128 threads per block");
  variant.launch = nullptr;
  EXPECT_EQ(unmet_requirement(variant, {}, shape), "this build has no CUDA");
}

// A device without any library, which runs nothing.
class WithoutLibraries final : public LabDevice {
 public:
  [[nodiscard]] std::string name() const override { return "none"; }
  [[nodiscard]] double copy_bandwidth() override { return 1; }

 private:
  [[nodiscard]] std::string missing(const StageVariant& variant) override {
    return variant.needs_npp ? "not today" : "";
  }
  void prepare() override {}
  void answer(const StageVariant&, const LabOptions&, LabOutput&) override { ADD_FAILURE() << "ran"; }
  std::vector<double> time_us(const StageVariant&, const LabOptions&) override { return {}; }
  [[nodiscard]] std::string grid_text(const StageVariant&, const LabOptions&) const override { return ""; }
};

TEST(Lab, VariantWithoutItsLibraryDoesNotRun) {
  WithoutLibraries lab;
  lab.load(subject_of("hist", "noise", {8, 8, 1}));
  StageVariant variant = variant_named("hist", "npp");
  variant.launch = [](const StageCall<Device>&, const VariantLaunch&) -> CudaStatus { return 0; };
  EXPECT_EQ(unmet_requirement(variant, {}, {8, 8, 1}), "");
  EXPECT_EQ(lab.unmet_requirement(variant, {}, {8, 8, 1}), "not today");
  const LabResult result = lab.run(variant, {});
  EXPECT_EQ(result.status, LabStatus::not_run);
  EXPECT_EQ(result.detail, "not today");
  variant.needs_npp = false;
  EXPECT_EQ(lab.unmet_requirement(variant, {}, {8, 8, 1}), "");
  // Every variant that calls NPP declares it.
  for (const Ladder& ladder : ladder_table()) {
    for (const StageVariant& each : ladder.variants)
      EXPECT_EQ(each.needs_npp, each.name == "npp") << ladder.name << " " << each.name;
  }
}

#ifdef IMGPIPE_TEST_CUDA
TEST(Lab, NppIsAvailableOrReportsWhyNot) {
  const NppLibrary npp;
  EXPECT_EQ(npp.functions() == nullptr, !npp.missing().empty());
}
#endif

// With 65500x65000 pixels, NPP reads beyond its input.
TEST(Lab, LibrariesWithNarrowOffsetsSkipLargeImages) {
  StageVariant variant = variant_named("hist", "npp");
  variant.launch = [](const StageCall<Device>&, const VariantLaunch&) -> CudaStatus { return 0; };
  EXPECT_EQ(unmet_requirement(variant, {}, {8773, 5352, 1}), "");
  EXPECT_EQ(unmet_requirement(variant, {}, {65500, 65000, 1}), "needs images of less than 2 GiB");
  EXPECT_EQ(unmet_requirement(variant, {}, {30000, 30000, 1}), "");
  EXPECT_EQ(unmet_requirement(variant, {}, {30000, 30000, 3}), "needs images of less than 2 GiB") << "of RGB";
  variant.wide = true;
  EXPECT_EQ(unmet_requirement(variant, {}, {65500, 65000, 1}), "");
  for (const char* stage : {"gray", "hist", "smooth"}) EXPECT_FALSE(variant_named(stage, "npp").wide);
}

TEST(Lab, SubjectsFitTheStage) {
  EXPECT_THROW((void)subject_of("gray", "noise", {8, 8, 1}), Error);
  EXPECT_THROW((void)subject_of("smooth", "noise", {8, 8, 3}), Error);
  EXPECT_THROW((void)subject_of("smooth16", "noise", {8, 8, 1}), Error);
  EXPECT_THROW((void)subject_of("smooth", "noise", {8, 8, 1, Sample::u16}), Error);
  const auto rgb = subject_of("hist", "noise", {8, 8, 3});
  ASSERT_EQ(rgb->counts.size(), 768U);
  for (int c = 0; c < 3; ++c) {
    std::uint64_t sum = 0;
    for (std::size_t bin = 0; bin < 256; ++bin) sum += rgb->counts[static_cast<std::size_t>(c) * 256 + bin];
    EXPECT_EQ(sum, 64U);
  }
  // Channels are counted separately.
  const Sample8 first_green = rgb->in.view().data[1];
  EXPECT_GT(rgb->counts[256 + first_green], 0U);
  EXPECT_EQ(rgb->bytes(), 192);
  EXPECT_EQ(subject_of("gray", "noise", {8, 8, 3})->bytes(), 256);
  EXPECT_EQ(subject_of("contrast", "noise", {8, 8, 1})->bytes(), 128);
  EXPECT_EQ(subject_of("contrast16", "noise", {8, 8, 1, Sample::u16})->bytes(), 256);
  EXPECT_EQ(subject_of("hist16", "noise", {8, 8, 1, Sample::u16})->counts.size(), 65536U);
}

TEST(Lab, Numbers) {
  LabResult result;
  EXPECT_EQ(result.median_us(), 0);
  EXPECT_EQ(result.spread(), 0);
  result.times_us = {1, 2, 3, 4, 10};
  EXPECT_DOUBLE_EQ(result.median_us(), 3);
  EXPECT_DOUBLE_EQ(result.quantile_us(0), 1);
  EXPECT_DOUBLE_EQ(result.quantile_us(1), 10);
  EXPECT_DOUBLE_EQ(result.spread(), 2.0 / 3);
  result.times_us = {1, 2};
  EXPECT_DOUBLE_EQ(result.median_us(), 1.5);
  EXPECT_EQ(runs_within(1000, 10, 3, 50), 50);
  EXPECT_EQ(runs_within(1000, 100, 3, 50), 10);
  EXPECT_EQ(runs_within(1000, 1e9, 3, 50), 3);
  EXPECT_EQ(runs_within(1000, 0, 3, 50), 50);
}

TEST(Lab, FoldedCounts) {
  std::vector<std::uint64_t> counts(512);
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = i;
  const std::vector<std::uint64_t> folds = folded(counts, 64);
  EXPECT_EQ(folds[0], 0U + 1 + 2 + 3);
  EXPECT_EQ(folds[63], 252U + 253 + 254 + 255);
  EXPECT_EQ(folds[64], 0U);
  EXPECT_EQ(folds[256], 256U + 257 + 258 + 259);
}

TEST(Lab, MeanCollisions) {
  const auto image = [](const char* pattern, Shape shape) {
    return synthesize(parse_pattern(pattern), shape, 3);
  };
  EXPECT_DOUBLE_EQ(mean_collisions(image("constant:9", {64, 3, 1})), 32);
  EXPECT_DOUBLE_EQ(mean_collisions(image("constant:9", {48, 1, 1})), 24) << "a group of 32 and one of 16";
  EXPECT_DOUBLE_EQ(mean_collisions(image("collision-free", {320, 5, 1})), 1);
  const double noise = mean_collisions(image("noise", {3200, 50, 1}));
  EXPECT_GT(noise, 1.5);
  EXPECT_LT(noise, 3);
}

TEST(Lab, DebugBuildsAreRejected) {
  EXPECT_NE(untimeable("Debug"), "");
  EXPECT_EQ(untimeable("Release"), "");
  EXPECT_EQ(untimeable("RelWithDebInfo"), "");
}

// ---- on a device --------------------------------------------------------------------------------------

CudaStatus cuda_nothing(const StageCall<Device>&, const VariantLaunch&) {
  return 0;
}

TEST(CudaLabTest, EveryVariantIsCheckedAndTimed) {
  IMGPIPE_NEED_CUDA();
  const std::unique_ptr<LabDevice> lab = make_cuda_lab(0);
  EXPECT_GT(lab->copy_bandwidth(), 0);
  int wrong = 0;
  for (const Shape size : {Shape{1, 1, 1}, Shape{1283, 719, 1}}) {
    for (const Ladder& ladder : ladder_table()) {
      const Stage& stage = *find_stage(ladder.stage);
      for (const StageVariant& variant : ladder.variants) {
        if (variant.kind() != VariantKind::cuda || !lab->unmet_requirement(variant, {}, size).empty())
          continue;
        const bool rgb = stage.ports.in.front().layout == Layout::interleaved || variant.interleaved;
        lab->load(subject_of(ladder.name, "photo", {size.width, size.height, rgb ? 3 : 1, ladder.sample}));
        const LabResult result = lab->run(variant, {7, 0, 0});
        EXPECT_TRUE(result.status == LabStatus::right ||
                    (variant.claim == Claim::wrong && result.status == LabStatus::wrong_as_claimed))
            << ladder.name << " " << variant.name << ": " << result.detail;
        EXPECT_EQ(result.times_us.size(), 7U);
        wrong += result.status == LabStatus::wrong_as_claimed ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(wrong, 1) << "non-atomic, on the larger image";
}

TEST(CudaLabTest, WrongVariantIsNeverTimed) {
  IMGPIPE_NEED_CUDA();
  const std::unique_ptr<LabDevice> lab = make_cuda_lab(0);
  StageVariant variant;
  variant.name = "test";
  variant.launch = cuda_nothing;
  for (const char* stage : {"hist", "contrast", "smooth"}) {
    lab->load(subject_of(stage, "noise", {67, 41, 1}));
    const LabResult result = lab->run(variant, {3, 0, 0});
    EXPECT_EQ(result.status, LabStatus::wrong) << stage;
    EXPECT_FALSE(result.timed());
  }
}

TEST(CudaLabTest, TransfersArrive) {
  IMGPIPE_NEED_CUDA();
  for (const Shape size : {Shape{3, 2, 3}, Shape{2111, 1907, 3}}) {
    const auto subject = subject_of("gray", "noise", size);
    const std::unique_ptr<TransferLab> lab = make_transfer_lab(0, *subject);
    for (const TransferVariant& variant : transfer_ladder()) {
      const LabResult result = lab->run(variant, {5, 0, 0});
      EXPECT_EQ(result.status, LabStatus::right) << variant.name << ": " << result.detail;
      EXPECT_EQ(result.times_us.size(), 5U);
    }
  }
}

TEST(Lab, TransfersAreDescribed) {
  std::set<std::string_view> names;
  for (const TransferVariant& variant : transfer_ladder()) {
    EXPECT_TRUE(names.insert(variant.name).second) << variant.name;
    EXPECT_FALSE(variant.idea.empty());
    EXPECT_FALSE(variant.origin.empty());
  }
  EXPECT_EQ(transfer_bytes(Transfer::up_pinned, 10), 30);
  EXPECT_EQ(transfer_bytes(Transfer::down_pinned, 10), 10);
  EXPECT_EQ(transfer_bytes(Transfer::round_serial, 10), 40);
  EXPECT_EQ(transfer_bytes(Transfer::make_pinned, 10), 0);
}

}  // namespace
}  // namespace imgpipe::test::lab_test
