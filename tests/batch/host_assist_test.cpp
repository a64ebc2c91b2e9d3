// How many workers may process images intended for lanes.
#include "pipeline/jobs/host_assist.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace imgpipe::test::host_assist_test {
namespace {

using Clock = HostAssist::Clock;

TEST(HostAssist, NoWorkerAssistsUntilTheLanesWereFull) {
  const auto assist = std::make_unique<HostAssist>(4);
  EXPECT_TRUE(assist->is_exhausted());
  EXPECT_EQ(assist->begin(), nullptr);
  assist->lanes_are_full();
  EXPECT_FALSE(assist->is_exhausted());
  auto one = assist->begin();
  EXPECT_NE(one, nullptr);
  EXPECT_EQ(assist->begin(), nullptr);
  one.reset();
  EXPECT_NE(assist->begin(), nullptr);
}

TEST(HostAssist, LimitGrowsUpToAllWorkers) {
  const auto assist = std::make_unique<HostAssist>(9);
  std::vector<std::unique_ptr<HostAssist::Assistance>> assisting;
  Clock::time_point now = Clock::now();
  std::vector<std::size_t> sizes;
  for (int i = 0; i < 8; ++i) {
    assist->lanes_are_full(now);
    assist->lanes_are_full(now);  // too soon for another worker
    while (auto one = assist->begin()) assisting.push_back(std::move(one));
    sizes.push_back(assisting.size());
    now += HostAssist::kStep;
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 2, 3, 4, 6, 8, 9, 9}));
}

TEST(HostAssist, LimitDoesNotGrowWhileAllowedWorkersDoNotAssist) {
  const auto assist = std::make_unique<HostAssist>(9);
  assist->lanes_are_full(Clock::now());
  assist->lanes_are_full(Clock::now() + 2 * HostAssist::kStep);
  const auto one = assist->begin();
  EXPECT_EQ(assist->begin(), nullptr);
}

TEST(HostAssist, LimitIsHalvedOnceALaneIsIdle) {
  const auto assist = std::make_unique<HostAssist>(9);
  Clock::time_point now = Clock::now();
  std::vector<std::unique_ptr<HostAssist::Assistance>> assisting;
  for (int i = 0; i < 4; ++i, now += HostAssist::kStep) {
    assist->lanes_are_full(now);
    assisting.push_back(assist->begin());
  }
  assist->lane_is_idle(now);
  assist->lane_is_idle(now);  // too soon
  EXPECT_TRUE(assist->is_exhausted()) << "four assist, two may";
  assisting.resize(1);
  EXPECT_NE(assist->begin(), nullptr);
  assist->lane_is_idle(now + HostAssist::kStep);
  assist->lane_is_idle(now + 2 * HostAssist::kStep);
  assisting.clear();
  EXPECT_EQ(assist->begin(), nullptr) << "none may";
}

TEST(HostAssist, AssistanceMayOutliveIt) {
  auto assist = std::make_unique<HostAssist>(1);
  assist->lanes_are_full();
  auto one = assist->begin();
  assist.reset();
  one.reset();
}

}  // namespace
}  // namespace imgpipe::test::host_assist_test
