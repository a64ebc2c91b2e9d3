// Tests which steps --fuse joins: from left to right, adjacent steps that form a row of the table, with each
// step joined at most once. The expected labels are derived from the plan without --fuse.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "kernels/stage.h"
#include "pipeline/plan.h"
#include "pipeline/stage_list.h"
#include "tests/support/golden.h"

namespace imgpipe::test::fusion_test {
namespace {

using Labels = std::vector<std::string>;

// With or without `fuse`, hist* counts planes, as the steps that are fused need them.
std::optional<Labels> labels_of(std::string_view stages, const Shape& input, bool fuse) {
  Labels labels;
  try {
    const Plan plan = make_plan(parse_stages(stages), input, fuse, std::int64_t{1} << 40, 16, true);
    for (const Step& step : plan.steps) labels.push_back(step.label);
  } catch (const Error&) {
    return std::nullopt;
  }
  return labels;
}

bool is_fused(const std::string& first, const std::string& second) {
  const auto name = [](const std::string& label) { return label.substr(0, label.find_first_of("#:*")); };
  const std::pair pair(name(first), name(second));
  return pair == std::pair<std::string, std::string>("gray", "hist") ||
         pair == std::pair<std::string, std::string>("contrast", "smooth");
}

Labels fused(const Labels& labels) {
  Labels joined;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    joined.push_back(labels[i]);
    if (i + 1 == labels.size() || !is_fused(labels[i], labels[i + 1])) continue;
    ++i;
    joined.back() += "+" + labels[i];
  }
  return joined;
}

std::vector<std::string> selectable_steps() {
  std::vector<std::string> steps;
  for (const Stage& stage : stage_table()) {
    if (stage.selectable) steps.push_back(golden_cases(stage.name).at(0));
  }
  return steps;
}

// Steps are fused only if all samples have 8 bits.
TEST(Fusion, JoinsTheTablesPairsOfAnyTwoStages) {
  const std::vector<std::string> steps = selectable_steps();
  int joined = 0;
  for (const Sample sample : {Sample::u8, Sample::u16, Sample::f32}) {
    for (const int channels : {1, 2, 3, 4}) {
      const Shape input{8, 4, channels, sample};
      for (const std::string& first : steps) {
        for (const std::string& second : steps) {
          const std::string list = first + "," + second;
          const std::optional<Labels> apart = labels_of(list, input, false);
          const std::optional<Labels> now = labels_of(list, input, true);
          ASSERT_EQ(apart.has_value(), now.has_value()) << list;
          if (!apart) continue;
          const Labels expected = is_byte(sample) ? fused(*apart) : *apart;
          ASSERT_EQ(*now, expected) << list << " of " << channels << " channels";
          joined += expected.size() < apart->size() ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GE(joined, 10);
}

TEST(Fusion, JoinsFromTheLeftAndEachStepOnce) {
  constexpr Shape kRgb{8, 4, 3}, kGrey{8, 4, 1};
  EXPECT_EQ(labels_of("gray,hist,hist", kRgb, true), (Labels{"gray+hist", "hist#2"}));
  EXPECT_EQ(labels_of("gray,hist,contrast,smooth,smooth", kRgb, true),
            (Labels{"gray+hist", "contrast+smooth", "smooth#2"}));
  EXPECT_EQ(labels_of("contrast:1,smooth:gauss,contrast,smooth", kGrey, true),
            (Labels{"hist*", "contrast:1+smooth:gauss", "hist#2*", "contrast#2+smooth#2"}));
  EXPECT_EQ(labels_of("hist,contrast:to=16,smooth", kGrey, true),
            (Labels{"hist", "contrast:to=16", "smooth"}));
}

}  // namespace
}  // namespace imgpipe::test::fusion_test
