// Tests pointwise stages on every instruction set with all 8-bit and all 16-bit values.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/image.h"
#include "images/simd.h"
#include "kernels/contrast/contrast.h"
#include "kernels/stage.h"
#include "pipeline/stage_list.h"
#include "tests/support/stage_cases.h"

namespace imgpipe::test::differential_values_test {
namespace {

// Every value with every lo and hi, to 8 and to 16 bits, on every SIMD target.
TEST(DifferentialCpu, ContrastForEveryRange) {
  Image in({kBins, 1, 1});
  Image out({kBins, 1, 1});
  Image wide({kBins, 1, 1, Sample::u16});
  const Sample16* const widened = wide.untyped_view().as<Sample16>().data;
  for (int v = 0; v < kBins; ++v) in.view().data[v] = static_cast<Sample8>(v);
  for (const std::string& target : simd_targets()) {
    use_simd(target);
    for (int lo = 0; lo < kBins; ++lo) {
      for (int hi = lo; hi < kBins; ++hi) {
        std::vector<std::uint64_t> counts(kBins, 0);
        counts[static_cast<std::size_t>(lo)] = 1;
        counts[static_cast<std::size_t>(hi)] = 1;
        const FrameType type{kBins, 1, 1, false, Layout::planar};
        StageCall<Host> call{};
        call.in = {type, {std::as_const(in).view(), {}, {}, {}}};
        call.out = {type, {out.view(), {}, {}, {}}};
        call.histogram = {counts.data(), kBins, 1, kBins, 1};
        std::vector<std::byte> table = table_for(*find_stage("contrast"), call);
        call.table = {table.data(), std::ssize(table)};
        contrast_cpu(call, {0, 1, 0, 0});
        for (int v = 0; v < kBins; ++v)
          ASSERT_EQ(out.view().data[v], stretched(v, lo, hi)) << target << " " << lo << " " << hi << " " << v;
        call.out.type.sample = Sample::u16;
        call.out.planes[0] = wide.untyped_view();
        contrast_cpu(call, {0, 1, 0, 0});
        for (int v = 0; v < kBins; ++v) {
          const Sample16 expected = stretched<Sample16, Sample8>(v, lo, hi);
          ASSERT_EQ(widened[v], expected) << target << " " << lo << " " << hi << " " << v;
        }
      }
    }
  }
  use_simd("");
}

// Applies `stage` to a frame of every 16-bit value.
template <class To>
std::vector<To> made_of_every_value(const Stage& stage, const Parameters& parameters,
                                    const std::vector<std::uint64_t>& counts) {
  constexpr std::int64_t kValues = 65536;
  std::vector<Sample16> in(kValues);
  for (std::size_t v = 0; v < in.size(); ++v) in[v] = static_cast<Sample16>(v);
  std::vector<To> out(kValues);
  const FrameType type{kValues, 1, 1, false, Layout::planar, Sample::u16};
  StageCall<Host> call{};
  call.in = {type, {Plane<const Sample16, Host>{in.data(), kValues, 1, kValues, 1}, {}, {}, {}}};
  call.out = {output_type(stage, type, parameters),
              {Plane<To, Host>{out.data(), kValues, 1, kValues, 1}, {}, {}, {}}};
  call.parameters = parameters;
  std::vector<std::uint64_t> counted = counts;
  if (!counted.empty()) call.histogram = histogram_view<Host>(counted.data(), type);
  std::vector<std::byte> table = table_for(stage, call);
  call.table = {table.data(), std::ssize(table)};
  run_cpu(stage, call, {0, 1, 0, 0});
  return out;
}

template <class To>
void expect_stretched(const std::string& target, const Parameters& parameters, std::size_t lo,
                      std::size_t hi) {
  std::vector<std::uint64_t> counts(65536, 0);
  counts[lo] = counts[hi] = 1;
  const std::vector<To> made = made_of_every_value<To>(*find_stage("contrast"), parameters, counts);
  for (std::size_t v = 0; v < made.size(); ++v) {
    const To expected =
        stretched<To, Sample16>(static_cast<int>(v), static_cast<int>(lo), static_cast<int>(hi));
    ASSERT_EQ(made[v], expected) << target << " " << lo << " " << hi << " " << v;
  }
}

// Every value with ranges of every size and random ones, on every SIMD target.
TEST(DifferentialCpu, ContrastOf16BitsForManyRanges) {
  std::vector<std::pair<std::size_t, std::size_t>> ranges{
      {0, 65535}, {1, 65535}, {0, 65534}, {65534, 65535}, {7, 7}};
  for (std::size_t span = 1; span < 65536; span = span * 2 + (span % 3 == 0 ? 1 : 0)) {
    for (const std::size_t near : {span - 1, span, span + 1}) {
      if (near > 0 && near < 65536) ranges.emplace_back(0, near);
      if (near > 0 && near < 65000) ranges.emplace_back(535, 535 + near);
    }
  }
  std::mt19937 random(16);
  for (int i = 0; i < 40; ++i) {
    const std::size_t a = random() % 65536;
    const std::size_t b = random() % 65536;
    ranges.emplace_back(std::min(a, b), std::max(a, b));
  }
  const Parameters same = parse_stages("contrast").front().parameters;
  const Parameters narrow = parse_stages("contrast:to=8").front().parameters;
  for (const std::string& target : simd_targets()) {
    use_simd(target);
    for (const auto& [lo, hi] : ranges) {
      expect_stretched<Sample16>(target, same, lo, hi);
      expect_stretched<Sample8>(target, narrow, lo, hi);
      if (HasFatalFailure()) return;
    }
  }
  use_simd("");
}

TEST(DifferentialCpu, DepthOfEveryValue) {
  const Parameters narrow = parse_stages("depth:8").front().parameters;
  for (const std::string& target : simd_targets()) {
    use_simd(target);
    const std::vector<Sample8> made = made_of_every_value<Sample8>(*find_stage("depth"), narrow, {});
    for (std::uint32_t v = 0; v < 65536; ++v)
      ASSERT_EQ(made[v], (v * 255 + 32767) / 65535) << target << " " << v;
  }
  use_simd("");
}

}  // namespace
}  // namespace imgpipe::test::differential_values_test
