// How JpegReconstruction's kernels share the work of a group: runs, walks, orders of blocks, plans.
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/jpeg/reconstruction_plan.h"
#include "tests/support/baseline_reference.h"
#include "tests/support/jpeg_scans.h"

namespace imgpipe::test::jpeg_reconstruction_work_test {
namespace {

using Random = std::mt19937_64;

TEST(ItemRuns, CoverEveryItemOnce) {
  for (const std::uint64_t items : {0, 1, 7, 8, 9, 1000, 4223}) {
    for (const unsigned blocks : {1U, 2U, 7U, 1000U}) {
      std::uint64_t next = 0;
      for (unsigned i = 0; i < blocks; ++i) {
        const ItemRun run = run_of(items, i, blocks);
        EXPECT_EQ(run.begin, next);
        EXPECT_LE(run.end - run.begin, items / blocks + 1);
        next = run.end;
      }
      EXPECT_EQ(next, items);
    }
  }
}

TEST(ItemWalks, VisitEveryItemOnce) {
  for (const std::uint32_t groups : {1U, 2U, 5U, 51U}) {
    for (const unsigned down_shift : {0U, 1U}) {
      for (const std::uint32_t mcu_rows : {1U, 3U, 40U}) {
        const std::uint64_t items = (std::uint64_t{mcu_rows} << down_shift) * groups;
        std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
        constexpr std::uint32_t kStep = 8;
        for (const std::uint64_t begin : {std::uint64_t{0}, items / 3, items / 2 + 1}) {
          seen.clear();
          for (std::uint32_t warp = 0; warp < kStep; ++warp) {
            ItemWalk walk(begin + warp, kStep, groups, down_shift);
            for (std::uint64_t item = begin + warp; item < items; item += kStep, walk.next()) {
              const std::uint32_t row = (walk.mcu_row() << down_shift) + walk.lower();
              EXPECT_LT(walk.group(), groups);
              EXPECT_LT(row, mcu_rows << down_shift);
              EXPECT_TRUE(seen.insert({row, walk.group()}).second);
            }
          }
          EXPECT_EQ(seen.size(), begin < items ? items - begin : 0);
        }
      }
    }
  }
}

TEST(BlockOrders, FindTheBlocksOfTheScan) {
  Random random(1);
  for (const Sampling sampling : kSamplings) {
    const BaselineScan scan = make_scan(sampling, 170, 50, 4, random);
    const ReconstructionPlan plan = plan_reconstruction({{.scan = &scan}});
    const ReconstructionImage& image = plan.images[0];
    const BlockOrder& order = image.order;
    const auto place_of = [&](const ItemWalk& walk, const BlockOfMcu& block, std::uint32_t mcus) {
      return order.position(order.first_mcu(walk.mcu_row(), walk.group(), mcus) + block.mcu) +
             std::uint64_t{block.in_mcu} * kBlockBytes;
    };
    std::uint64_t position = 0;
    for (std::uint32_t mcu_y = 0; mcu_y < scan.mcu_rows; ++mcu_y) {
      for (std::uint32_t mcu_x = 0; mcu_x < scan.mcus_across; ++mcu_x) {
        for (int c = 0; c < scan.components; ++c) {
          const auto across = static_cast<std::uint32_t>(scan.component[static_cast<std::size_t>(c)].across);
          const auto down = static_cast<std::uint32_t>(scan.component[static_cast<std::size_t>(c)].down);
          for (std::uint32_t i = 0; i < down * across; ++i, position += kBlockBytes) {
            if (c == 0) {
              const std::uint32_t x = mcu_x * across + i % across;
              const std::uint64_t item =
                  (std::uint64_t{mcu_y} * image.luma_groups + x / kTransformBlocks) * down + i / across;
              const ItemWalk walk(item, 8, image.luma_groups, order.down_shift);
              EXPECT_EQ(
                  place_of(walk, order.luma(x % kTransformBlocks, walk.lower()), order.luma_group_mcus()),
                  position);
            } else {
              const std::uint64_t item = std::uint64_t{mcu_y} * image.colour_groups + mcu_x / kColourItemMcus;
              const ItemWalk walk(item, 8, image.colour_groups, 0);
              const auto block = static_cast<unsigned>(c - 1) + 2 * (mcu_x % kColourItemMcus);
              EXPECT_EQ(place_of(walk, order.colour(block), kColourItemMcus), position);
            }
          }
        }
      }
    }
    EXPECT_EQ(order.position(order.last_mcu + 7) + order.mcu_bytes,
              sizeof(std::int16_t) * coefficients_of(scan));
  }
}

TEST(ReconstructionPlans, ReserveSpaceForColourOnly) {
  Random random(1);
  std::vector<BaselineScan> scans;
  for (const Sampling sampling : kSamplings) scans.push_back(make_scan(sampling, 1001, 333, 4, random));
  std::vector<ReconstructionTask> tasks;
  for (const BaselineScan& scan : scans) tasks.push_back({.scan = &scan});
  const ReconstructionPlan plan = plan_reconstruction(tasks);
  std::size_t after = plan.upload_bytes();
  for (const ReconstructionImage& image : plan.images) {
    EXPECT_EQ(image.colour_offset % 256, 0);
    EXPECT_GE(static_cast<std::size_t>(image.colour_offset), after);
    EXPECT_GE(kBlockSide * image.order.mcus_across, image.colour_width);
    after = static_cast<std::size_t>(image.colour_offset) +
            std::size_t{2} * kBlockSide * image.order.mcus_across * image.colour_height;
  }
  EXPECT_LE(after, plan.bytes);
  EXPECT_LT(plan.bytes, after + 256);
  EXPECT_EQ(plan.first_luma.back(),
            42U * 16 + 42 * 16 + 42 * 16 + std::uint64_t{2} * 21 * 16 + std::uint64_t{2} * 21 * 16);
  const JpegReconstruction reconstruction(tasks);
  EXPECT_EQ(reconstruction.memory().bytes, plan.bytes);
  std::vector<std::byte> upload(reconstruction.memory().upload_bytes);
  reconstruction.write_upload(upload.data());
  EXPECT_EQ(
      std::memcmp(upload.data() + plan.luma_offset(), plan.first_luma.data(), 8 * plan.first_luma.size()), 0);
}

TEST(ReconstructionPlans, EmptyGroupHasAnEmptyPlan) {
  const JpegReconstruction reconstruction({});
  std::vector<std::byte> upload(reconstruction.memory().upload_bytes);
  reconstruction.write_upload(upload.data());
}

}  // namespace
}  // namespace imgpipe::test::jpeg_reconstruction_work_test
