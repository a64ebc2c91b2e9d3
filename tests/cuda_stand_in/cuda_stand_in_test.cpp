// Tests how the program handles rejections by CUDA devices, with a stand-in for the CUDA runtime.
#ifdef IMGPIPE_TEST_CUDA

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "images/error.h"
#include "kernels/shared/cluster_support.cuh"
#include "lab/bench/bench.h"
#include "pipeline/cuda/cuda_api.h"
#include "pipeline/cuda/device_run.h"
#include "pipeline/cuda/pinned_memory.h"
#include "pipeline/device.h"
#include "pipeline/lane.h"
#include "pipeline/plan.h"
#include "pipeline/result_memory.h"
#include "pipeline/stage_list.h"
#include "pipeline/threads/thread_start.h"
#include "tests/cuda_stand_in/stand_in_runtime.h"
#include "tests/support/plan_record.h"

namespace imgpipe::test::cuda_stand_in_test {
namespace {

constexpr std::size_t kBlock = std::size_t{4} << 20;

class CudaStandIn : public testing::Test {
 protected:
  CudaStandIn() {
    runtime.reset();
    // A process reports each text once, so every test uses its own.
    runtime.refusal_text = testing::UnitTest::GetInstance()->current_test_info()->name();
    (void)take_device_warnings();
  }
};

TEST_F(CudaStandIn, UnpinnableMemoryIsUsedAndReportedOnce) {
  runtime.max_pinned = 0;
  for (const auto& [status, text] :
       {std::pair{cudaErrorMemoryAllocation, "too much"}, std::pair{cudaErrorNotSupported, "not supported"},
        std::pair{cudaErrorNotPermitted, "not permitted"}}) {
    SCOPED_TRACE(text);
    runtime.refusal = status;
    runtime.refusal_text = text;
    PinnedMemory memory(PinnedMemory::When::at_once);
    void* const first = memory.allocate(kBlock, 64);
    std::memset(first, 1, kBlock);
    EXPECT_EQ(runtime.last_error, cudaSuccess) << "the next launch would report it";
    const std::vector<std::string> warnings = take_device_warnings();
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_NE(warnings[0].find(text), std::string::npos) << warnings[0];
    void* const second = memory.allocate(kBlock, 64);
    memory.pin(second);
    EXPECT_TRUE(take_device_warnings().empty());
    memory.deallocate(first, kBlock, 64);
    memory.deallocate(second, kBlock, 64);
  }
  EXPECT_TRUE(runtime.pinned.empty());
}

TEST_F(CudaStandIn, IdleBlocksAreUnpinnedFirst) {
  runtime.max_pinned = 3 * kBlock;
  PinnedMemory memory(PinnedMemory::When::on_demand);
  void* const idle = memory.allocate(kBlock, 64);
  void* const used = memory.allocate(kBlock, 64);
  memory.pin(idle);
  memory.pin(used);
  memory.deallocate(idle, kBlock, 64);
  void* const large = memory.allocate(2 * kBlock, 64);
  memory.pin(large);
  EXPECT_TRUE(take_device_warnings().empty());
  EXPECT_TRUE(runtime.pinned.contains(large));
  EXPECT_TRUE(runtime.pinned.contains(used)) << "its holder may be copying";
  EXPECT_EQ(runtime.pinned.size(), 2U);
  // No idle block is left.
  void* const last = memory.allocate(2 * kBlock, 64);
  memory.pin(last);
  std::memset(last, 1, 2 * kBlock);
  EXPECT_FALSE(runtime.pinned.contains(last));
  EXPECT_EQ(take_device_warnings().size(), 1U);
  memory.deallocate(used, kBlock, 64);
  memory.deallocate(large, 2 * kBlock, 64);
  // Of the two blocks that fit, the pinned one is preferred.
  EXPECT_EQ(memory.allocate(2 * kBlock, 64), large);
  memory.deallocate(large, 2 * kBlock, 64);
  memory.pin(last);
  EXPECT_TRUE(runtime.pinned.contains(last));
  memory.deallocate(last, 2 * kBlock, 64);
}

TEST_F(CudaStandIn, OtherPinningFailuresAreErrors) {
  runtime.max_pinned = 0;
  runtime.refusal = cudaErrorIllegalAddress;
  PinnedMemory memory(PinnedMemory::When::at_once);
  try {
    (void)memory.allocate(kBlock, 64);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_EQ(std::string(error.what()).rfind("CUDA: cudaHostRegister: ", 0), 0U) << error.what();
  }
  EXPECT_TRUE(take_device_warnings().empty());
}

TEST_F(CudaStandIn, CurrentDeviceOfAThreadIsRestored) {
  runtime.device = 3;
  {
    const DeviceRestorer restorer;
    EXPECT_EQ(cudaSetDevice(1), cudaSuccess);
  }
  EXPECT_EQ(runtime.device, 3);
  runtime.devices_set.clear();
  { const DeviceRestorer restorer; }
  EXPECT_TRUE(runtime.devices_set.empty()) << "a device is set only where another one is current";
  {
    PinnedMemory memory(PinnedMemory::When::at_once, 0);
    memory.use_device(1);
    memory.deallocate(memory.allocate(kBlock, 64), kBlock, 64);
    EXPECT_TRUE(runtime.pinned.empty());
  }
  EXPECT_EQ(runtime.devices_set, (std::vector<int>{1, 3}));
  runtime.devices_set.clear();
  { const CurrentDevice device(1); }
  EXPECT_EQ(runtime.devices_set, (std::vector<int>{1, 3}));
}

// On a thread of the library, restoring device 0 would create a context on that device.
TEST_F(CudaStandIn, OwnThreadsKeepTheirDevice) {
  EXPECT_FALSE(is_library_thread());
  const auto use_device = [] {
    EXPECT_TRUE(is_library_thread());
    const CurrentDevice device(1);
  };
  start_thread(use_device).join();
  EXPECT_EQ(runtime.devices_set, std::vector<int>{1});
  for (int i = 0; i < 2; ++i) start_threads(1, [&](int) { use_device(); }).front().join();
  EXPECT_EQ(runtime.devices_set, (std::vector<int>{1, 1, 1}));
  // A thread that is working for a lane restores its device after freeing pinned memory of another one.
  runtime.devices_set.clear();
  start_thread([] {
    runtime.device = 3;
    PinnedMemory memory(PinnedMemory::When::at_once, 0);
    memory.use_device(1);
    memory.deallocate(memory.allocate(kBlock, 64), kBlock, 64);
  }).join();
  EXPECT_EQ(runtime.devices_set, (std::vector<int>{1, 3}));
}

TEST_F(CudaStandIn, LanesRestoreTheCallersDevice) {
  runtime.capabilities = {{9, 0}, {9, 0}};
  const std::vector<int> devices{1};
  const auto lanes = make_cuda_lanes(devices, 1, make_lane_memory(0));
  EXPECT_THROW(lanes.front()->start(), Error) << "the stand-in makes no streams";
  EXPECT_EQ(runtime.devices_set, (std::vector<int>{1, 0}));
}

TEST_F(CudaStandIn, SlotsOfALaneShareItsMemory) {
  runtime.mode = StandInMode::runs;
  const auto memory = make_lane_memory(1 << 20);
  const std::vector<int> devices{0};
  const auto lanes = make_cuda_lanes(devices, 2, memory);
  Lane& lane = *lanes.front();
  const auto used = [] { return (std::int64_t{1} << 40) - static_cast<std::int64_t>(runtime.free_bytes); };
  const auto launch = [&](std::size_t slot, LaneImage& image, std::int64_t height) {
    image.plan = std::make_shared<const Plan>(make_plan(parse_stages("invert"), {1000, height, 3}));
    image.source = Image(image.plan->input, memory.get());
    LaneImage* const group[]{&image};
    lane.launch(slot, group);
  };
  const auto finish = [&](std::size_t slot, LaneImage& image) {
    LaneImage* const group[]{&image};
    lane.finish(slot, group);
  };
  LaneImage first, second;
  lane.limit_memory(std::int64_t{1} << 30);
  lane.start();
  launch(0, first, 4000);
  finish(0, first);
  const std::int64_t one = used();
  lane.release_memory();
  EXPECT_EQ(used(), 0);

  const std::int64_t limit = one + one / 2;
  lane.limit_memory(limit);
  EXPECT_LE(lane.most().pixels * 2, limit / 3) << "a group of every slot fits";
  launch(0, first, 4000);
  EXPECT_THROW(launch(1, second, 4000), Error);
  EXPECT_LE(used(), limit);
  launch(1, second, 500);
  EXPECT_LE(used(), limit);
  finish(0, first);
  finish(1, second);
  lane.limit_memory(one / 2);
  EXPECT_THROW(launch(1, second, 500), Error) << "slot 0 keeps more";
  launch(0, first, 500);
  EXPECT_LE(used(), one / 2) << "the slot frees its memory above the limit";
  finish(0, first);
}

class StandInResults : public CudaStandIn {
 protected:
  StandInResults() {
    runtime.mode = StandInMode::runs;
    results_ = make_result_memory(0);
    runtime.logging_thread = std::this_thread::get_id();
    runtime.calls.clear();
  }
  [[nodiscard]] static std::size_t used() { return (std::size_t{1} << 40) - runtime.free_bytes; }

  std::unique_ptr<ResultMemory> results_;
};

TEST_F(StandInResults, DroppingOneMakesNoCalls) {
  auto block = results_->take(1000);
  const std::byte* const data = block->data();
  runtime.calls.clear();
  block.reset();
  EXPECT_EQ(runtime.calls, std::vector<std::string>()) << "any could invalidate a captured graph";
  runtime.query_status = cudaErrorNotReady;
  const auto other = results_->take(1000);
  EXPECT_NE(other->data(), data) << "other work may still use the block";
  EXPECT_EQ(runtime.context_records, 1);
  runtime.query_status = cudaSuccess;
  EXPECT_EQ(results_->take(1000)->data(), data);
}

TEST_F(StandInResults, NothingIsRecordedDuringACaptureOfABlockingStream) {
  auto block = results_->take(1000);
  const std::byte* const data = block->data();
  block.reset();
  runtime.legacy_capture = cudaErrorStreamCaptureImplicit;
  auto other = results_->take(1000);
  results_->trim();
  EXPECT_EQ(runtime.context_records, 0);
  EXPECT_NE(other->data(), data);
  EXPECT_EQ(runtime.last_error, cudaSuccess) << "the caller's next launch would report it";
  runtime.legacy_capture = cudaSuccess;
  EXPECT_EQ(results_->take(1000)->data(), data);
  EXPECT_EQ(runtime.context_records, 1);
}

TEST_F(StandInResults, ManyDroppedAreFreedAtOnce) {
  constexpr std::size_t kEach = std::size_t{4} << 20;
  results_->limit_idle(2 * kEach);
  for (const bool busy : {false, true}) {
    runtime.query_status = busy ? cudaErrorNotReady : cudaSuccess;
    std::vector<std::shared_ptr<ResultBlock>> blocks;
    for (int i = 0; i < 10; ++i) blocks.push_back(results_->take(kEach));
    while (!blocks.empty()) blocks.pop_back();
    EXPECT_EQ(used() <= 4 * kEach, !busy) << used();
    runtime.query_status = cudaSuccess;
    results_->trim();
    EXPECT_EQ(used(), 0U);
  }
}

TEST_F(StandInResults, AllocationsDoNotDisturbACapture) {
  runtime.modes_in_calls.clear();
  (void)results_->take(1000);
  results_->trim();
  EXPECT_EQ(runtime.modes_in_calls, std::vector(2, cudaStreamCaptureModeRelaxed));
  cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal;
  (void)cudaThreadExchangeStreamCaptureMode(&mode);
  EXPECT_EQ(mode, cudaStreamCaptureModeGlobal) << "the thread's mode is unchanged";
  (void)results_->take(1000);
  (void)cudaThreadExchangeStreamCaptureMode(&mode);
  EXPECT_EQ(mode, cudaStreamCaptureModeThreadLocal);
}

TEST_F(CudaStandIn, ListingDevicesLeavesNoError) {
  runtime.count_status = cudaErrorNoDevice;
  EXPECT_TRUE(list_cuda_devices().devices.empty());
  EXPECT_EQ(runtime.last_error, cudaSuccess) << "the caller's next launch would report it";
}

TEST_F(CudaStandIn, OldDevicesAreSkippedOrRejected) {
  runtime.capabilities = {{6, 1}, {7, 0}, {7, 5}, {9, 0}};
  EXPECT_EQ(find_cuda_device(kAnyCudaDevice).index, 2);
  EXPECT_EQ(take_device_warnings(),
            (std::vector<std::string>{
                "cuda:0 (stand-in): compute capability 6.1; imgpipe needs at least 7.5; skipped",
                "cuda:1 (stand-in): compute capability 7.0; imgpipe needs at least 7.5; skipped"}));
  EXPECT_EQ(find_cuda_device(3).index, 3);
  EXPECT_TRUE(take_device_warnings().empty());
  const auto failure_of = [](int index) {
    try {
      (void)find_cuda_device(index);
    } catch (const Error& error) {
      return (error.kind() == ErrorKind::device ? "" : "not of the device: ") + std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(failure_of(1), "cuda:1 (stand-in): compute capability 7.0; imgpipe needs at least 7.5");
  EXPECT_EQ(failure_of(4), "cuda:4: no such device; expected 0 to 3");
  runtime.capabilities = {{6, 1}};
  EXPECT_EQ(failure_of(kAnyCudaDevice), "cuda cannot be used: every CUDA device is too old");
  runtime.capabilities = {};
  EXPECT_EQ(failure_of(kAnyCudaDevice), "cuda cannot be used: no CUDA device");
}

TEST_F(CudaStandIn, LabUsesTheFirstSupportedDevice) {
  runtime.capabilities = {{6, 2}, {9, 0}};
  BenchOptions options;
  options.device = "cuda";
  UserKernels own(options);
  EXPECT_THROW(Bench(options, own), Error) << "the stand-in makes no streams";
  EXPECT_EQ(runtime.devices_set, std::vector<int>{1});
  EXPECT_EQ(take_device_warnings().size(), 1U) << "of the device that is skipped";
  runtime.devices_set.clear();
  options.device = "cuda:0";
  EXPECT_THROW(Bench(options, own), Error);
  EXPECT_TRUE(runtime.devices_set.empty());
}

TEST_F(CudaStandIn, ClustersRunIfTheDeviceCanPlaceOne) {
  const char kernel = 0;
  const auto clusters = [&kernel] {
    bool found = true;
    EXPECT_EQ(query_cluster_support(&kernel, 8, 1024, 0, found), cudaSuccess);
    EXPECT_EQ(runtime.last_error, cudaSuccess) << "the next launch would report it";
    return found;
  };
  EXPECT_TRUE(clusters());
  runtime.active_clusters = 0;
  EXPECT_FALSE(clusters());
  runtime.active_clusters = 1;
  runtime.cluster_status = cudaErrorInvalidClusterSize;
  EXPECT_FALSE(clusters()) << "a device that cannot say so places none";
  EXPECT_EQ(runtime.cluster_questions, 3);
  runtime.cluster_status = cudaSuccess;
  runtime.ptx_version = 80;
  EXPECT_FALSE(clusters()) << "code for 8.0 knows of no cluster";
  EXPECT_EQ(runtime.cluster_questions, 3);
}

// Returns a plan's blocks in order, the positions of its frames in them, and the copies of tables and counts.
std::string device_text(const Plan& plan, bool keep_outputs, bool decodes) {
  runtime.blocks.clear();
  runtime.copies.clear();
  PinnedMemory pinned(PinnedMemory::When::on_demand);
  Context context(pinned);
  Timeline timeline;
  DeviceTables tables;
  DeviceRun run(context, plan, timeline, tables, keep_outputs, decodes);
  tables.upload(context);
  run.make_calls(tables);
  std::string text;
  for (const std::size_t bytes : runtime.blocks) text += std::to_string(bytes) + " ";
  const auto add = [&](const void* at) {
    text += "@" + std::to_string(reinterpret_cast<std::uintptr_t>(at));
  };
  add(run.source().data);
  add(run.result().data);
  const DeviceRun::DecodedTo first = run.decoded_to();
  add(first.grey.data);
  add(first.counts);
  for (const auto& frame : run.outputs()) {
    for (const auto& plane : frame.planes) add(plane.data);
  }
  std::vector<std::vector<std::uint64_t>> histograms;
  run.download_histograms(histograms);
  for (const auto& [at, bytes] : runtime.copies) {
    text += " " + std::to_string(bytes);
    add(at);
  }
  for (const auto& counts : histograms) text += " " + std::to_string(counts.size());
  return text + "; ";
}

constexpr std::array<std::string_view, 2> kGroups{"estimate", "blocks"};

TEST_F(CudaStandIn, DeviceMemoryOfPlansIsUnchanged) {
  runtime.mode = StandInMode::plans;
  expect_recorded("tests/cuda_stand_in/device_memory.txt", kGroups, [](const Plan& plan) {
    std::vector<std::string> numbers(kGroups.size());
    for (const bool keep_outputs : {false, true}) {
      numbers[0] +=
          plan.steps.empty() ? "none " : std::to_string(whole_device_bytes(plan, keep_outputs)) + " ";
      for (const bool decodes : {false, true}) numbers[1] += device_text(plan, keep_outputs, decodes);
    }
    return numbers;
  });
}

// Returns the name of a decoder's row, and the data that the decoder produces.
std::string decoding_text(const Plan& plan, bool decodes) {
  PinnedMemory pinned(PinnedMemory::When::on_demand);
  Context context(pinned);
  Timeline timeline;
  DeviceTables tables;
  DeviceRun run(context, plan, timeline, tables, false, decodes);
  tables.upload(context);
  run.make_calls(tables);
  const DeviceRun::DecodedTo to = run.decoded_to();
  return to.row + (to.pixels.empty() ? "" : " pixels") +
         (to.grey.empty() ? "" : " grey " + std::to_string(static_cast<int>(to.luma))) +
         (to.counts == nullptr ? "" : " counts");
}

TEST_F(CudaStandIn, DecodersDoTheWorkOfTheFirstSteps) {
  runtime.mode = StandInMode::plans;
  struct Row {
    std::string_view stages, decoding[4];  // by channels - 1
  };
  static constexpr std::array kRows{
      Row{"none", {" (cuda) pixels", " (cuda) pixels", " (cuda) pixels", " (cuda) pixels"}},
      Row{"gray:bt709",
          {" (cuda) pixels", " (cuda) pixels", "+gray:bt709 (cuda) grey 1", "+gray:bt709 (cuda) grey 1"}},
      Row{"gray,hist,contrast,smooth",
          {"+hist (cuda) pixels counts", " (cuda) pixels", "+gray+hist (cuda) grey 0 counts",
           "+gray+hist (cuda) grey 0 counts"}},
      Row{"gray,contrast",
          {"+hist* (cuda) pixels counts", " (cuda) pixels", "+gray+hist* (cuda) grey 0 counts",
           "+gray+hist* (cuda) grey 0 counts"}},
      Row{"contrast", {"+hist* (cuda) pixels counts", " (cuda) pixels", " (cuda) pixels", " (cuda) pixels"}},
      Row{"hist,hist", {"+hist (cuda) pixels counts", " (cuda) pixels", " (cuda) pixels", " (cuda) pixels"}},
      Row{"smooth,gray,hist", {" (cuda) pixels", " (cuda) pixels", " (cuda) pixels", " (cuda) pixels"}}};
  for (const Row& row : kRows) {
    for (const int channels : {1, 2, 3, 4}) {
      for (const bool fuse : {false, true}) {
        const Plan plan = make_plan(parse_stages(row.stages), {8, 4, channels}, fuse);
        const std::string expected = "decode" + std::string(row.decoding[channels - 1]);
        EXPECT_EQ(decoding_text(plan, true), expected) << row.stages << " of " << channels << " channels";
        EXPECT_EQ(decoding_text(plan, false), "decode (cuda) pixels") << row.stages;
      }
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::cuda_stand_in_test

#endif
