// How many workers may do what lanes were meant to do.
#include "pipeline/jobs/lane_help.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace imgpipe::test::lane_help_test {
namespace {

using Clock = LaneHelp::Clock;

TEST(LaneHelp, NobodyHelpsUntilTheLanesWereFull) {
  const auto help = std::make_shared<LaneHelp>(4);
  EXPECT_TRUE(help->is_exhausted());
  EXPECT_EQ(help->begin(), nullptr);
  help->lanes_are_full();
  EXPECT_FALSE(help->is_exhausted());
  auto one = help->begin();
  EXPECT_NE(one, nullptr);
  EXPECT_EQ(help->begin(), nullptr);
  one.reset();
  EXPECT_NE(help->begin(), nullptr);
}

TEST(LaneHelp, MoreEachTimeUpToAllWorkers) {
  const auto help = std::make_shared<LaneHelp>(9);
  std::vector<std::unique_ptr<LaneHelp::Turn>> turns;
  Clock::time_point now = Clock::now();
  std::vector<std::size_t> sizes;
  for (int i = 0; i < 8; ++i) {
    help->lanes_are_full(now);
    help->lanes_are_full(now);  // too soon for another
    while (auto turn = help->begin()) turns.push_back(std::move(turn));
    sizes.push_back(turns.size());
    now += LaneHelp::kStep;
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 2, 3, 4, 6, 8, 9, 9}));
}

TEST(LaneHelp, NoMoreWhereThoseWhoMayDoNot) {
  const auto help = std::make_shared<LaneHelp>(9);
  help->lanes_are_full(Clock::now());
  help->lanes_are_full(Clock::now() + 2 * LaneHelp::kStep);
  const auto one = help->begin();
  EXPECT_EQ(help->begin(), nullptr);
}

TEST(LaneHelp, HalfOnceALaneIsIdle) {
  const auto help = std::make_shared<LaneHelp>(9);
  Clock::time_point now = Clock::now();
  std::vector<std::unique_ptr<LaneHelp::Turn>> turns;
  for (int i = 0; i < 4; ++i, now += LaneHelp::kStep) {
    help->lanes_are_full(now);
    turns.push_back(help->begin());
  }
  help->lane_is_idle(now);
  help->lane_is_idle(now);  // too soon
  EXPECT_TRUE(help->is_exhausted()) << "four help, two may";
  turns.resize(1);
  EXPECT_NE(help->begin(), nullptr);
  help->lane_is_idle(now + LaneHelp::kStep);
  help->lane_is_idle(now + 2 * LaneHelp::kStep);
  turns.clear();
  EXPECT_EQ(help->begin(), nullptr) << "none may";
}

// Entries may outlive what gave them their turn.
TEST(LaneHelp, ATurnHoldsIt) {
  auto help = std::make_shared<LaneHelp>(1);
  help->lanes_are_full();
  auto turn = help->begin();
  help.reset();
  turn.reset();
}

}  // namespace
}  // namespace imgpipe::test::lane_help_test
