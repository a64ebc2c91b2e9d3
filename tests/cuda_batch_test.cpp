// Batches through CUDA devices: equal to the reference, whatever the sizes, the slots, and the calls that
// fail.
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "images/synth.h"
#include "pipeline/batch/batch.h"
#include "pipeline/device.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/files.h"
#include "tests/support/host_lane.h"
#include "tests/support/images.h"

#ifdef IMGPIPE_TEST_CUDA
#include "pipeline/cuda/cuda_api.h"
#include "pipeline/cuda/pinned_memory.h"
#endif

namespace imgpipe::test {
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
  // Results by item; everything that was written is left in out_.
  static std::map<std::size_t, BatchResult> run(Batch& batch) {
    std::map<std::size_t, BatchResult> results;
    while (!batch.finished()) {
      if (std::optional<BatchResult> result = batch.next(std::chrono::seconds(1)))
        results[result->item] = std::move(*result);
    }
    return results;
  }
  // What the reference makes of every input.
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

  TemporaryFolder in_, out_;
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

TEST_F(CudaBatch, ADeviceThatIsNotThereEndsTheBatch) {
  IMGPIPE_NEED_CUDA();
  write_all(4);
  BatchSettings with = settings("gray", 2);
  with.lane_memory = make_lane_memory(1 << 26);
  with.find_lanes = offering(make_cuda_lanes(std::vector<int>{77}, 3, with.lane_memory));
  Batch batch(items(), std::move(with));
  EXPECT_TRUE(run(batch).empty());
  ASSERT_TRUE(batch.fatal());
  EXPECT_NE(std::string(batch.fatal()->what()).find("there is no CUDA device 77"), std::string::npos);
}

#ifdef IMGPIPE_TEST_CUDA

// Whatever call fails and how: an output is right or not there, and what is not there is said.
TEST_F(CudaBatch, EveryCallMayFail) {
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
  std::size_t told = 0;
  for (const cudaError_t status : {cudaErrorMemoryAllocation, cudaErrorIllegalAddress}) {
    for (const bool host_helps : {false, true}) {
      for (std::int64_t k = 0; k < calls; k += host_helps ? 5 : 2) {
        SCOPED_TRACE("call " + std::to_string(k) + " of " + std::to_string(calls));
        told += run_with(host_helps, k, status) ? 1U : 0U;
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(told, 20U);
}

TEST(PinnedMemoryTest, KeepsAndGivesBackAndNeverMoreThanItsLimit) {
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
  memory.pin(&attributes);  // none of its own: nothing happens
  memory.deallocate(second, 10'000'000, 64);
  memory.deallocate(first, 10'000'000, 64);
  // 200 MB come back, 64 MiB are kept.
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
  // In blocks of 20 MiB; the two from before have 10 MiB each.
  EXPECT_EQ(still_pinned, 2U);
  PinnedMemory at_once(PinnedMemory::When::at_once);
  void* const pinned = at_once.allocate(100, 64);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, pinned), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  at_once.deallocate(pinned, 100, 64);
}

TEST_F(CudaBatch, DeviceMemoryStaysFlat) {
  IMGPIPE_NEED_CUDA();
  write("small.png", {64, 48, 3}, 1);
  write("large.png", {300, 200, 3}, 2);
  std::vector<BatchItem> many;
  for (int i = 0; i < 4000; ++i)
    many.push_back({in_.file(names_[static_cast<std::size_t>(i) % 2]), out_.file(std::to_string(i) + ".png"),
                    Format::png});
  BatchSettings with = settings("gray,hist,contrast,smooth", 4);
  with.lane_memory = make_lane_memory(1 << 26);
  with.find_lanes = offering(make_cuda_lanes(std::vector<int>{0}, 4, with.lane_memory));
  Batch batch(many, std::move(with));
  std::size_t done = 0;
  std::size_t free_settled = 0;
  std::size_t total = 0;
  while (!batch.finished()) {
    const std::optional<BatchResult> result = batch.next(std::chrono::seconds(1));
    if (!result) continue;
    EXPECT_FALSE(result->failed) << result->reason;
    std::filesystem::remove(out_.file(std::to_string(result->item) + ".png"));
    if (++done == 500) {
      ASSERT_EQ(cudaMemGetInfo(&free_settled, &total), cudaSuccess);
    }
  }
  EXPECT_EQ(done, 4000U);
  std::size_t free_after = 0;
  ASSERT_EQ(cudaMemGetInfo(&free_after, &total), cudaSuccess);
  EXPECT_GE(free_after, free_settled - (free_settled / 50));
  // A slot's memory grows with the largest group that it had: four times 128 images of 200 KB, and as much
  // again.
  EXPECT_GE(free_after + (std::size_t{200} << 20), free_settled)
      << "not 3,500 images' memory, which would be 700 MB";
}

#endif  // IMGPIPE_TEST_CUDA

}  // namespace
}  // namespace imgpipe::test
