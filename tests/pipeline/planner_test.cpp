// The plans of random chains, and the values that their steps make and read, against the planner as it was
// (tests/support/old_planner.h). A failure prints the shortest list that still differs, the image's shape and
// the seed.
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/stage.h"
#include "tests/support/images.h"
#include "tests/support/old_planner.h"
#include "tests/support/random_stages.h"

namespace imgpipe::test::planner_test {
namespace {

constexpr int kChains = 5000;
constexpr std::int64_t kMostSteps = 6;
constexpr std::uint64_t kSeed = 20261125;

struct RandomPlan {
  std::vector<std::string> steps;
  PlanRequest request;
};

std::string list_of(const std::vector<std::string>& steps) {
  std::string list;
  for (const std::string& step : steps) list += (list.empty() ? "" : ",") + step;
  return steps.empty() ? "none" : list;
}

RandomPlan random_plan(Random& random) {
  RandomPlan plan;
  for (std::int64_t left = below(random, kMostSteps + 1); left > 0; --left)
    plan.steps.push_back(random_step(random, *recorded_stage(random)));
  PlanRequest& request = plan.request;
  const Sample sample = below(random, 2) == 0 ? Sample::u8 : Sample::u16;
  request.input = random_shape(random, sample, static_cast<int>(1 + below(random, 4)));
  request.fuse = below(random, 2) == 0;
  request.most_pixels = below(random, 4) == 0 ? 100 : 1 << 22;
  request.most_bits = below(random, 2) == 0 ? 8 : 16;
  request.keep = {.source = below(random, 2) == 0, .outputs = below(random, 2) == 0};
  return plan;
}

bool differs(PlanRequest request, const std::vector<std::string>& steps) {
  const std::string list = list_of(steps);
  request.list = list;
  return planner_text(request) != old_planner_text(request);
}

// Without every step that the difference does not need.
std::vector<std::string> shortest(const PlanRequest& request, std::vector<std::string> steps) {
  for (std::size_t i = 0; i < steps.size();) {
    std::vector<std::string> fewer = steps;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (differs(request, fewer)) {
      steps = fewer;
      i = 0;
    } else {
      ++i;
    }
  }
  return steps;
}

TEST(Planner, PlansRandomChainsAsBefore) {
  Random random(kSeed);
  int rejected = 0;
  for (int i = 0; i < kChains; ++i) {
    RandomPlan plan = random_plan(random);
    if (differs(plan.request, plan.steps)) {
      const std::string list = list_of(shortest(plan.request, plan.steps));
      plan.request.list = list;
      const Shape& shape = plan.request.input;
      FAIL() << "chain " << i << " of seed " << kSeed << ": " << list << " of " << shape.width << "x"
             << shape.height << "x" << shape.channels << " u" << 8 * bytes_per_sample(shape.sample)
             << (plan.request.fuse ? ", fused" : "") << ", at most " << plan.request.most_pixels
             << " pixels and " << plan.request.most_bits << " bits\nnow\n"
             << planner_text(plan.request) << "before\n"
             << old_planner_text(plan.request);
    }
    const std::string list = list_of(plan.steps);
    plan.request.list = list;
    rejected += planner_text(plan.request).starts_with("error") ? 1 : 0;
  }
  std::cout << kChains - rejected << " plans and " << rejected << " rejected chains are equal\n";
  EXPECT_GT(kChains - rejected, kChains / 4);
}

}  // namespace
}  // namespace imgpipe::test::planner_test
