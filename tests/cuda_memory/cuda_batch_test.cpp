// Compares batches on CUDA devices with the reference, also when CUDA calls fail.
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "images/synth.h"
#include "pipeline/coded_image.h"
#include "pipeline/device.h"
#include "pipeline/jobs/batch.h"
#include "pipeline/lane.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/files.h"
#include "tests/support/host_lane.h"
#include "tests/support/images.h"

#ifdef IMGPIPE_TEST_CUDA
#include "pipeline/cuda/cuda_api.h"
#include "pipeline/cuda/pinned_memory.h"
#endif

namespace imgpipe::test::cuda_batch_test {
namespace {

class CudaBatch : public testing::Test {
 protected:
  void write(const std::string& name, const Shape& shape, std::uint64_t seed) {
    Image image(shape);
    fill({frame_type_of(shape), {image.view(), {}, {}, {}}}, "noise", seed);
    const auto writer = make_writer(Format::png, shape);
    writer->write_rows(image.view());
    save(in_.file(name), writer->finish().joined());
    names_.push_back(name);
  }
  void write_all(int count) {
    const std::vector<Shape> shapes{{700, 500, 3}, {33, 90, 1},   {1200, 70, 4},
                                    {1, 1, 3},     {257, 257, 2}, {2000, 1500, 3}};
    for (int i = 0; i < count; ++i)
      write("image" + std::to_string(i) + ".png", shapes[static_cast<std::size_t>(i) % shapes.size()],
            static_cast<std::uint64_t>(i));
  }

  [[nodiscard]] std::vector<BatchItem> items() const {
    std::vector<BatchItem> items;
    for (const std::string& name : names_) items.push_back({in_.file(name), out_.file(name), Format::png});
    return items;
  }
  static BatchSettings settings(const std::string& stages, int jobs) {
    BatchSettings settings;
    settings.stages = parse_stages(stages);
    settings.jobs = jobs;
    return settings;
  }
  // Returns the results by item; written files stay in out_.
  static std::map<std::size_t, BatchResult> run(Batch& batch) {
    std::map<std::size_t, BatchResult> results;
    while (!batch.finished()) {
      if (std::optional<BatchResult> result = batch.next(std::chrono::seconds(1)))
        results[result->item] = std::move(*result);
    }
    return results;
  }
  // Returns the reference's output for every input.
  std::map<std::string, std::vector<std::byte>> expected(const std::string& stages) {
    BatchSettings with = settings(stages, 4);
    with.make_engine = make_reference_engine;
    Batch batch(items(), std::move(with));
    run(batch);
    std::map<std::string, std::vector<std::byte>> files;
    for (const std::string& name : names_) {
      files[name] = load(out_.file(name));
      std::filesystem::remove(out_.file(name));
    }
    return files;
  }
  static std::vector<int> all_devices() {
    std::vector<int> devices;
    for (const CudaDevice& device : list_cuda_devices().devices) devices.push_back(device.index);
    return devices;
  }

  TemporaryDirectory in_, out_;
  std::vector<std::string> names_;
};

TEST_F(CudaBatch, EqualsTheReferenceForEveryPlanAndNumberOfSlots) {
  IMGPIPE_NEED_CUDA();
  write_all(30);
  for (const char* stages : {"gray,hist,contrast,smooth", "contrast,smooth", "hist",
                             "smooth,smooth,smooth,gray,smooth", "smooth,contrast,smooth,contrast"}) {
    const auto files = expected(stages);
    for (const std::size_t slots : {1U, 3U, 5U}) {
      for (const bool fuse : {false, true}) {
        SCOPED_TRACE(std::string(stages) + " slots " + std::to_string(slots) + (fuse ? " fused" : ""));
        BatchSettings with = settings(stages, 6);
        with.fuse = fuse;
        with.lane_memory = make_lane_memory(std::int64_t{1} << 26);
        with.find_lanes = offering(make_cuda_lanes(all_devices(), slots, with.lane_memory));
        Batch batch(items(), std::move(with));
        const auto results = run(batch);
        ASSERT_EQ(results.size(), names_.size());
        for (const auto& [item, result] : results) {
          EXPECT_FALSE(result.failed) << result.reason;
          EXPECT_TRUE(result.device.starts_with("cuda:")) << result.device;
          EXPECT_EQ(load(out_.file(names_[item])), files.at(names_[item])) << names_[item];
          std::filesystem::remove(out_.file(names_[item]));
        }
      }
    }
  }
}

TEST_F(CudaBatch, MissingDeviceEndsTheBatch) {
  IMGPIPE_NEED_CUDA();
  write_all(4);
  BatchSettings with = settings("gray", 2);
  with.lane_memory = make_lane_memory(1 << 26);
  with.find_lanes = offering(make_cuda_lanes(std::vector<int>{77}, 3, with.lane_memory));
  Batch batch(items(), std::move(with));
  EXPECT_TRUE(run(batch).empty());
  ASSERT_TRUE(batch.fatal());
  EXPECT_NE(std::string(batch.fatal()->what()).find("cuda:77: no such device"), std::string::npos);
}

#ifdef IMGPIPE_TEST_CUDA

// Whichever call fails, every output is correct or missing, and a missing one is reported.
TEST_F(CudaBatch, HandlesFailureOfEveryCall) {
  IMGPIPE_NEED_CUDA();
  write_all(5);
  const auto files = expected("gray,hist,contrast,smooth");
  const auto run_with = [&](bool host_helps, std::int64_t failing, cudaError_t status) {
    BatchSettings with = settings("gray,hist,contrast,smooth", 2);
    with.host_helps = host_helps;
    with.lane_memory = make_lane_memory(1 << 26);
    with.find_lanes = offering(make_cuda_lanes(std::vector<int>{0}, 2, with.lane_memory));
    fail_cuda_call(failing, status);
    std::map<std::size_t, BatchResult> results;
    bool fatal = false;
    std::size_t notes = 0;
    {
      Batch batch(items(), std::move(with));
      results = run(batch);
      fatal = batch.fatal().has_value();
      notes = batch.take_notes().size();
    }
    fail_cuda_call(-1, cudaSuccess);
    std::size_t failed = 0;
    for (const auto& [item, result] : results) {
      if (result.failed) {
        ++failed;
        EXPECT_EQ(result.failed, ErrorKind::memory) << result.reason;
        EXPECT_FALSE(std::filesystem::exists(out_.file(names_[item])));
        continue;
      }
      EXPECT_EQ(load(out_.file(names_[item])), files.at(names_[item]));
      std::filesystem::remove(out_.file(names_[item]));
    }
    EXPECT_TRUE(out_.names().empty()) << "an output of an image that has no result";
    EXPECT_TRUE(fatal || results.size() == names_.size());
    EXPECT_FALSE(host_helps && fatal);
    EXPECT_LE(failed, 1U);
    EXPECT_LE(notes, 1U);
    return fatal || failed > 0 || notes > 0;
  };
  const std::int64_t before = cuda_calls();
  EXPECT_FALSE(run_with(false, -1, cudaSuccess));
  const std::int64_t calls = cuda_calls() - before;
  EXPECT_GT(calls, 50);
  std::size_t reported = 0;
  for (const cudaError_t status : {cudaErrorMemoryAllocation, cudaErrorIllegalAddress}) {
    for (const bool host_helps : {false, true}) {
      for (std::int64_t k = 0; k < calls; k += host_helps ? 5 : 2) {
        SCOPED_TRACE("call " + std::to_string(k) + " of " + std::to_string(calls));
        reported += run_with(host_helps, k, status) ? 1U : 0U;
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(reported, 20U);
}

TEST(PinnedMemoryTest, ReusesBlocksWithinItsLimit) {
  IMGPIPE_NEED_CUDA();
  PinnedMemory memory(PinnedMemory::When::on_demand, std::size_t{64} << 20);
  void* const first = memory.allocate(10'000'000, 64);
  memory.pin(first);
  memory.pin(first);
  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, first), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  memory.deallocate(first, 10'000'000, 64);
  EXPECT_EQ(memory.allocate(9'900'000, 64), first) << "about the same size: the same block";
  void* const second = memory.allocate(10'000'000, 64);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, second), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered) << "not before it is asked for";
  memory.pin(&attributes);  // not a separate block: no effect
  memory.deallocate(second, 10'000'000, 64);
  memory.deallocate(first, 10'000'000, 64);
  // 200 MB are released, of which 64 MiB are kept.
  std::vector<void*> blocks;
  for (int i = 0; i < 10; ++i) {
    blocks.push_back(memory.allocate(20'000'000, 64));
    memory.pin(blocks.back());
  }
  for (void* const block : blocks) memory.deallocate(block, 20'000'000, 64);
  std::size_t still_pinned = 0;
  for (void* const block : blocks) {
    if (cudaPointerGetAttributes(&attributes, block) == cudaSuccess && attributes.type == cudaMemoryTypeHost)
      ++still_pinned;
  }
  // The 64 MiB hold two of these blocks, 20 MiB each, and the two earlier ones, 10 MiB each.
  EXPECT_EQ(still_pinned, 2U);
  PinnedMemory at_once(PinnedMemory::When::at_once);
  void* const pinned = at_once.allocate(100, 64);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, pinned), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  at_once.deallocate(pinned, 100, 64);
}

std::size_t free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  IMGPIPE_CUDA(cudaMemGetInfo(&free, &total));
  return free;
}

// Memory that the driver may allocate meanwhile; it allocates device memory in units of 2 MiB.
constexpr std::size_t kOfTheDriver = std::size_t{8} << 20;

// Drives a lane as a batch does, but with chosen groups.
class DrivenLane {
 public:
  explicit DrivenLane(std::size_t slots)
      : memory_(make_lane_memory(1 << 26)),
        lanes_(make_cuda_lanes(std::vector<int>{0}, slots, memory_)),
        groups_(slots) {
    lane().start();
  }
  [[nodiscard]] Lane& lane() { return *lanes_.front(); }

  // Launches a group of equal shapes to be PNG files, after finishing the slot's previous group.
  void launch(std::size_t slot, std::size_t images, const Shape& shape) {
    finish(slot);
    Group& group = groups_[slot];
    for (std::size_t i = 0; i < images; ++i) {
      LaneImage image;
      image.plan =
          std::make_shared<const Plan>(make_plan(parse_stages("gray,hist,contrast,smooth"), shape, true));
      image.coded = coded_image_for(make_writer(Format::png, image.plan->output).get());
      image.source = Image(image.plan->input, memory_.get());
      fill({frame_type_of(shape), {image.source.view(), {}, {}, {}}}, "noise", i);
      group.images.push_back(std::move(image));
    }
    for (LaneImage& image : group.images) group.pointers.push_back(&image);
    lane().launch(slot, group.pointers);
  }
  void finish(std::size_t slot) {
    Group& group = groups_[slot];
    if (group.pointers.empty()) return;
    lane().finish(slot, group.pointers);
    for (const LaneImage& image : group.images) {
      EXPECT_FALSE(image.error);
      EXPECT_FALSE(image.coded.made.parts.empty());
    }
    group = {};
  }
  void finish_all() {
    for (std::size_t slot = 0; slot < groups_.size(); ++slot) finish(slot);
  }

 private:
  struct Group {
    std::deque<LaneImage> images;
    std::vector<LaneImage*> pointers;
  };
  std::shared_ptr<std::pmr::memory_resource> memory_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<Group> groups_;
};

constexpr std::size_t kFlatSlots = 4;
constexpr Shape kFlatSmall{64, 48, 3};
constexpr Shape kFlatLarge{300, 200, 3};

// Runs the largest possible groups in every slot. From the second one on, a group's memory is one block.
void settle(DrivenLane& driven) {
  for (int round = 0; round < 3; ++round) {
    for (std::size_t slot = 0; slot < kFlatSlots; ++slot)
      driven.launch(slot, driven.lane().most().images, kFlatLarge);
  }
  driven.finish_all();
}

// After the largest groups, 4,000 other images take no more device memory.
TEST_F(CudaBatch, DeviceMemoryOfALaneDoesNotGrow) {
  IMGPIPE_NEED_CUDA();
  DrivenLane driven(kFlatSlots);
  settle(driven);
  const std::size_t settled = free_bytes();
  const std::size_t most = driven.lane().most().images;
  std::size_t images = 0;
  for (std::size_t i = 0; images < 4000; ++i) {
    const std::size_t count = 1 + i * 37 % most;
    driven.launch(i % kFlatSlots, count, i % 3 == 0 ? kFlatSmall : kFlatLarge);
    images += count;
  }
  driven.finish_all();
  EXPECT_GE(free_bytes() + kOfTheDriver, settled);
}

// The sizes of a batch's groups vary, and a slot may get its largest group late. Its memory is then at most
// twice what that group needs: if memory is insufficient, DeviceArena adds a block as large as all its blocks
// so far. So all slots together hold at most twice as much as after the largest possible groups.
TEST_F(CudaBatch, DeviceMemoryDoesNotGrow) {
  IMGPIPE_NEED_CUDA();
  std::size_t of_largest_groups = 0;
  {
    DrivenLane driven(kFlatSlots);
    const std::size_t before = free_bytes();
    settle(driven);
    of_largest_groups = before - free_bytes();
  }
  ASSERT_GT(of_largest_groups, 0U);
  const std::size_t free_before = free_bytes();
  write("small.png", kFlatSmall, 1);
  write("large.png", kFlatLarge, 2);
  std::vector<BatchItem> many;
  for (int i = 0; i < 4000; ++i)
    many.push_back({in_.file(names_[static_cast<std::size_t>(i) % 2]), out_.file(std::to_string(i) + ".png"),
                    Format::png});
  BatchSettings with = settings("gray,hist,contrast,smooth", 4);
  with.lane_memory = make_lane_memory(1 << 26);
  with.find_lanes = offering(make_cuda_lanes(std::vector<int>{0}, kFlatSlots, with.lane_memory));
  Batch batch(many, std::move(with));
  std::size_t done = 0;
  while (!batch.finished()) {
    const std::optional<BatchResult> result = batch.next(std::chrono::seconds(1));
    if (!result) continue;
    EXPECT_FALSE(result->failed) << result->reason;
    std::filesystem::remove(out_.file(std::to_string(result->item) + ".png"));
    // The lane still exists at this point.
    if (++done % 100 == 0) {
      EXPECT_GE(free_bytes() + 2 * of_largest_groups + kOfTheDriver, free_before) << done;
    }
  }
  EXPECT_EQ(done, 4000U);
}

#endif  // IMGPIPE_TEST_CUDA

}  // namespace
}  // namespace imgpipe::test::cuda_batch_test
