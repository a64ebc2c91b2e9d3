// Compares every variant of every ladder with its stage's reference: awkward shapes, contents, and grids from
// one block of 32 threads to many blocks of 1024.
#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/shared/window.h"
#include "kernels/stage.h"
#include "lab/kernels/ladders.h"
#include "pipeline/device.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/cuda_variants.h"
#include "tests/support/images.h"
#include "tests/support/stage_cases.h"

namespace imgpipe::test::ladder_test {
namespace {

using StageLadder = imgpipe::Ladder;

// The reference's result for a frame with the ladder's parameters. Counts are by channel and value.
struct Expected {
  OwnFrame frame{FrameType{}};           // for stages that write pixels
  std::vector<std::uint64_t> counts_in;  // of the input
  std::vector<std::uint64_t> counts;     // that the variant must produce
};

// Folds counts into fewer bins, at the start of each channel's counters.
std::vector<std::uint64_t> in_bins(const std::vector<std::uint64_t>& counts, std::size_t values,
                                   std::size_t bins) {
  std::vector<std::uint64_t> sums(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i)
    sums[i / values * values + i % values * bins / values] += counts[i];
  return sums;
}

Expected expected_of(const StageLadder& ladder, const StageVariant& variant,
                     const Frame<const std::byte, Host>& in) {
  const Stage& stage = *find_stage(ladder.stage);
  Expected expected;
  expected.counts_in = counts_of(in);
  if (makes_counts(stage)) {
    const auto values = static_cast<std::size_t>(in.type.bins());
    const std::size_t bins = variant.bins == kBins ? values : static_cast<std::size_t>(variant.bins);
    expected.counts = in_bins(expected.counts_in, values, bins);
    return expected;
  }
  expected.frame = made_by_reference(stage, {std::string(ladder.name), ladder.parameters}, in).frame;
  if (variant.counts_too) expected.counts = counts_of(expected.frame.view());
  return expected;
}

// A grid on a device, or a number of shares on the host.
struct Config {
  int block = 0, blocks = 0;
  int shares = 1;
};

void run_shares(const Stage& stage, const StageVariant& variant, const StageCall<Host>& call, int shares) {
  const bool apart = has_private_counts(variant, stage);
  const auto size = static_cast<std::size_t>(call.histogram.height * call.histogram.width);
  std::vector<std::uint64_t> sum(size, 0);
  if (makes_counts(stage)) std::fill_n(call.histogram.data, size, 0);
  for (int i = 0; i < shares; ++i) {
    StageCall<Host> part = call;
    std::vector<std::uint64_t> own(size, 0);
    if (apart) part.histogram.data = own.data();
    run_share(variant, part, {i, shares});
    for (std::size_t bin = 0; bin < size; ++bin) sum[bin] += own[bin];
  }
  if (apart) std::ranges::copy(sum, call.histogram.data);
}

// Expects differences of at most 1 inside the border.
void check_near(const ConstHostPlane& expected, const ConstHostPlane& got) {
  for (std::int64_t y = kRadius; y < got.height - kRadius; ++y) {
    for (std::int64_t x = kRadius; x < got.width - kRadius; ++x)
      ASSERT_LE(std::abs(expected.row(y)[x] - got.row(y)[x]), 1)
          << "x=" << x << " y=" << y << ": expected " << int{expected.row(y)[x]} << ", got "
          << int{got.row(y)[x]};
  }
}

void check_pixels(const StageVariant& variant, const ConstHostView& expected, const ConstHostView& got) {
  if (variant.claim == Claim::near) {
    check_near(expected.as<Sample8>(), got.as<Sample8>());
  } else {
    ASSERT_EQ(first_difference(expected, got), "");
  }
}

void check(const StageLadder& ladder, const StageVariant& variant, Size size, const std::string& content,
           const Config& config, std::uint64_t seed = 21) {
  const Stage& stage = *find_stage(ladder.stage);
  SCOPED_TRACE(std::string(ladder.name) + " " + std::string(variant.name) + " " + std::to_string(size.width) +
               "x" + std::to_string(size.height) + " " + content + " grid " + std::to_string(config.block) +
               "x" + std::to_string(config.blocks) + " shares " + std::to_string(config.shares));
  const bool rgb = stage.ports.in.front().layout == Layout::interleaved || variant.interleaved;
  const FrameType shape{
      size.width, size.height, rgb ? 3 : 1, false, rgb ? Layout::interleaved : Layout::planar, ladder.sample};
  GuardedFrame in(shape, 5, 3);
  fill(in.view(), content, seed);
  const FrameType out_shape = output_type(stage, shape, ladder.parameters);
  GuardedFrame out({size.width, size.height, 1, false, Layout::planar, out_shape.sample}, 7, 1);
  const ConstHostView pixels = in.view().planes[0];
  Expected expected = expected_of(ladder, variant, in.view());
  StageCall<Host> call{.parameters = ladder.parameters};
  call.in.type = shape;
  call.in.planes[0] = pixels;
  call.out.type = out_shape;
  if (makes_pixels(stage)) call.out.planes[0] = out.view().planes[0];
  const std::int64_t planes = stage.name == "hist" ? shape.color_channels : 1;
  const std::int64_t bins = shape.bins();
  std::vector<std::uint64_t> counters(static_cast<std::size_t>(planes * bins) + 2, 0xDEADBEEF);
  call.histogram = {counters.data() + 1, bins, planes, bins, 1};
  if (find_port(stage.ports.in, ValueKind::counts) != nullptr)
    std::ranges::copy(expected.counts_in, counters.begin() + 1);
  std::vector<std::byte> table = table_for(stage, call);
  call.table = {table.data(), std::ssize(table)};
  if (variant.kind() == VariantKind::cuda) {
    const std::int64_t scratch = scratch_bytes(stage, shape, ladder.parameters);
    ASSERT_EQ(run_variant_on_cuda(variant, call, config.block, config.blocks, scratch), "");
  } else {
    run_shares(stage, variant, call, config.shares);
  }
  ASSERT_EQ(in.damage(), "") << "input";
  ASSERT_EQ(out.damage(), "") << "output";
  ASSERT_EQ(counters.front(), 0xDEADBEEF);
  ASSERT_EQ(counters.back(), 0xDEADBEEF);
  if (makes_pixels(stage)) check_pixels(variant, expected.frame.view().planes[0], out.view().planes[0]);
  if (variant.claim == Claim::wrong) return;
  for (std::size_t i = 0; i < expected.counts.size(); ++i)
    ASSERT_EQ(counters[i + 1], expected.counts[i]) << "bin " << i;
}

struct VariantIndex {
  std::size_t ladder, variant;

  [[nodiscard]] std::string_view ladder_name() const { return ladder_table()[ladder].name; }
  [[nodiscard]] const StageVariant& get() const { return ladder_table()[ladder].variants[variant]; }
};
void PrintTo(const VariantIndex& index, std::ostream* out) {
  *out << index.ladder_name() << ", " << index.get().name;
}

class Ladder : public testing::TestWithParam<VariantIndex> {
 protected:
  [[nodiscard]] const StageLadder& ladder() const { return ladder_table()[GetParam().ladder]; }
  [[nodiscard]] const StageVariant& variant() const { return GetParam().get(); }
};

#define IMGPIPE_NEED_VARIANT()                                                                 \
  if (variant().kind() == VariantKind::cuda) {                                                 \
    IMGPIPE_NEED_CUDA();                                                                       \
    if (const std::string why = missing_on_cuda(variant()); !why.empty()) GTEST_SKIP() << why; \
  }

TEST_P(Ladder, AwkwardShapes) {
  IMGPIPE_NEED_VARIANT();
  std::vector<Size> sizes = awkward_sizes();
  // More rows or columns than a grid's y dimension can have.
  sizes.push_back({2, 70001});
  sizes.push_back({70001, 2});
  for (const Size& size : sizes) {
    check(ladder(), variant(), size, "noise", {0, 0, 3});
    if (HasFatalFailure()) return;
  }
}

TEST_P(Ladder, Contents) {
  IMGPIPE_NEED_VARIANT();
  for (const std::string& content : contents()) {
    for (const Size& size : few_sizes()) {
      check(ladder(), variant(), size, content, {0, 0, 2});
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Ladder, Grids) {
  IMGPIPE_NEED_VARIANT();
  for (const Size& size : {Size{97, 89}, Size{1, 1}, Size{259, 31}}) {
    if (variant().kind() != VariantKind::cuda) {
      for (const int shares : {1, 2, 3, 7, 64, 300}) {
        if (variant().kind() == VariantKind::reference && shares > 1) continue;
        check(ladder(), variant(), size, "noise", {0, 0, shares});
        if (HasFatalFailure()) return;
      }
      continue;
    }
    for (const int block : {32, 64, 96, 128, 160, 256, 512, 992, 1024}) {
      if (block > variant().max_threads) continue;
      for (const int blocks : {1, 2, 7, 133, 3000}) {
        check(ladder(), variant(), size, "noise", {block, blocks});
        if (HasFatalFailure()) return;
      }
    }
  }
}

// More rounds than a byte counter can count and more than one wave of blocks; on one block and on many.
TEST_P(Ladder, LargerImage) {
  IMGPIPE_NEED_VARIANT();
  for (const std::string content : {"noise", "constant"}) {
    for (const Config& config : {Config{0, 0, 5}, Config{32, 1}, Config{128, 500}}) {
      check(ladder(), variant(), {1031, 777}, content, config);
      if (HasFatalFailure()) return;
      if (variant().kind() != VariantKind::cuda) break;  // no grid
    }
  }
}

std::vector<VariantIndex> all_variants() {
  std::vector<VariantIndex> indices;
  for (std::size_t l = 0; l < ladder_table().size(); ++l) {
    for (std::size_t r = 0; r < ladder_table()[l].variants.size(); ++r) indices.push_back({l, r});
  }
  return indices;
}

const char* kind_name(VariantKind kind) {
  return kind == VariantKind::cuda ? "cuda" : kind == VariantKind::cpu ? "cpu" : "reference";
}

std::string variant_name(const testing::TestParamInfo<VariantIndex>& index) {
  const StageVariant& variant = index.param.get();
  std::string name = std::string(kind_name(variant.kind())) + "_" + std::string(index.param.ladder_name()) +
                     "_" + std::string(variant.name);
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Variants, Ladder, testing::ValuesIn(all_variants()), variant_name);

int functions_of(const StageVariant& variant) {
  return (variant.reference != nullptr ? 1 : 0) + (variant.cpu != nullptr ? 1 : 0) +
         (variant.cuda != nullptr ? 1 : 0) + (variant.share != nullptr ? 1 : 0) +
         (variant.launch != nullptr ? 1 : 0);
}

TEST(Ladders, DescribeEveryVariant) {
  std::size_t count = 0;
  int wrong = 0;
  for (const VariantIndex& index : all_variants()) {
    const StageVariant& variant = index.get();
    SCOPED_TRACE(std::string(index.ladder_name()) + " " + std::string(variant.name));
    EXPECT_FALSE(variant.idea.empty());
    EXPECT_FALSE(variant.origin.empty());
    EXPECT_EQ(std::ranges::count(ladder_table()[index.ladder].variants, variant.name, &StageVariant::name),
              1);
    EXPECT_EQ(variant.kind() == VariantKind::reference, index.variant == 0);
    EXPECT_EQ(functions_of(variant), variant.kind() != VariantKind::cuda || built_with_cuda() ? 1 : 0);
    EXPECT_TRUE(variant.cuda == nullptr || variant.grid == imgpipe::Grid::own);
    wrong += variant.claim == Claim::wrong ? 1 : 0;
    ++count;
  }
  EXPECT_GE(count, 35U);
  EXPECT_EQ(wrong, 1);
}

// Stages need no ladder, but ladders need a stage. Add the name of a new ladder here.
TEST(Ladders, CoverTheseStages) {
  std::vector<std::string_view> names;
  for (const StageLadder& ladder : ladder_table()) {
    names.push_back(ladder.name);
    const Stage* stage = find_stage(ladder.stage);
    ASSERT_NE(stage, nullptr) << ladder.name;
    EXPECT_TRUE(stage->selectable) << ladder.name;
    EXPECT_EQ(find_ladder(ladder.name), &ladder) << ladder.name << " twice";
    EXPECT_EQ(ladder.name.substr(0, ladder.stage.size()), ladder.stage);
    EXPECT_EQ(ladder.name.ends_with("16"), ladder.sample == Sample::u16) << ladder.name;
  }
  EXPECT_EQ(names, (std::vector<std::string_view>{"gray", "hist", "contrast", "smooth", "equalize", "clahe",
                                                  "median", "median5", "gray16", "hist16", "contrast16",
                                                  "smooth16"}));
  EXPECT_EQ(find_ladder("split"), nullptr);
  EXPECT_EQ(find_ladder(""), nullptr);
}

const StageVariant& last_of(const StageLadder& ladder, VariantKind kind) {
  const auto last =
      std::ranges::find(ladder.variants.rbegin(), ladder.variants.rend(), kind, &StageVariant::kind);
  if (last == ladder.variants.rend())
    throw std::logic_error("the ladder of " + std::string(ladder.name) + " lacks a device");
  return *last;
}

// For each device, a ladder ends with the function that the product runs.
TEST(Ladders, EndWithTheProductsFunctions) {
  for (const StageLadder& ladder : ladder_table()) {
    SCOPED_TRACE(ladder.name);
    const auto product = [&](Backend backend) {
      return *find_kernel(*find_stage(ladder.stage), backend, ladder.sample, ladder.sample);
    };
    EXPECT_NE(product(Backend::reference).reference, nullptr);
    EXPECT_EQ(last_of(ladder, VariantKind::reference).reference, product(Backend::reference).reference);
    EXPECT_NE(product(Backend::cpu).cpu, nullptr);
    EXPECT_EQ(last_of(ladder, VariantKind::cpu).cpu, product(Backend::cpu).cpu);
    EXPECT_EQ(product(Backend::cuda).cuda != nullptr, built_with_cuda());
    const StageVariant& production = last_of(ladder, VariantKind::cuda);
    EXPECT_EQ(production.cuda, product(Backend::cuda).cuda);
    EXPECT_EQ(&production, &ladder.variants.back());
    EXPECT_EQ(production.name, "production");
    EXPECT_EQ(production.claim, Claim::exact);
    EXPECT_EQ(is_production(production, ladder), built_with_cuda());
    EXPECT_TRUE(is_production(last_of(ladder, VariantKind::cpu), ladder));
    EXPECT_EQ(
        std::ranges::count_if(ladder.variants,
                              [&](const StageVariant& variant) { return is_production(variant, ladder); }),
        built_with_cuda() ? 2 : 1);
  }
}

// Shows that the tests above detect the errors of the variant without atomics.
TEST(Ladders, NonAtomicCountsAreWrong) {
  IMGPIPE_NEED_CUDA();
  for (const StageVariant& variant : find_ladder("hist")->variants) {
    if (variant.claim != Claim::wrong) continue;
    const FrameType shape{512, 512, 1, false, Layout::planar};
    GuardedFrame in(shape, 0, 0);
    fill(in.view(), "constant", 1);
    std::vector<std::uint64_t> counts(kBins);
    StageCall<Host> call{};
    call.in = {shape, {in.view().planes[0], {}, {}, {}}};
    call.out.type = shape;
    call.histogram = {counts.data(), kBins, 1, kBins, 1};
    ASSERT_EQ(run_variant_on_cuda(variant, call, 0, 0), "");
    EXPECT_LT(counts[77], 512U * 512U);
    EXPECT_GT(counts[77], 0U);
  }
}

}  // namespace
}  // namespace imgpipe::test::ladder_test
