// What the program does where CUDA devices refuse something, with functions of this file in place of the CUDA
// runtime's: no device is needed, and each refusal can be had.
#ifdef IMGPIPE_TEST_CUDA

#include <array>
#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "images/error.h"
#include "kernels/shared/cluster_support.cuh"
#include "lab/bench/bench.h"
#include "pipeline/cuda/banded_run.h"
#include "pipeline/cuda/cuda_api.h"
#include "pipeline/cuda/device_run.h"
#include "pipeline/cuda/pinned_memory.h"
#include "pipeline/device.h"
#include "pipeline/lane.h"
#include "pipeline/threads/thread_start.h"
#include "tests/support/plan_record.h"

namespace {

struct Runtime {
  std::vector<std::pair<int, int>> capabilities{{9, 0}};  // by device
  int device = 0;                                         // the current one
  std::vector<int> devices_set;
  std::size_t most_pinned = ~std::size_t{0};
  cudaError_t refusal = cudaErrorMemoryAllocation;  // beyond most_pinned
  cudaError_t count_status = cudaSuccess;
  std::string refusal_text = "no more";
  std::map<void*, std::size_t> pinned;
  cudaError_t last_error = cudaSuccess;
  int ptx_version = 90;
  int active_clusters = 1;
  cudaError_t cluster_status = cudaSuccess;
  int cluster_questions = 0;
  bool has_memory = false;          // and streams and events; refuses what is not asked for alone
  std::vector<std::size_t> blocks;  // that it has given, one behind the other
  std::vector<std::pair<const void*, std::size_t>> copies;  // to or from the device

  cudaError_t failed(cudaError_t status) {
    if (status != cudaSuccess) last_error = status;
    return status;
  }
};
Runtime runtime;

constexpr std::size_t kMemory = std::size_t{1} << 30;       // the first block's address
constexpr std::size_t kSharedBlock = std::size_t{8} << 20;  // DeviceArena's for small pieces

std::size_t pinned_bytes() {
  std::size_t sum = 0;
  for (const auto& [block, bytes] : runtime.pinned) sum += bytes;
  return sum;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = static_cast<int>(runtime.capabilities.size());
  return runtime.failed(runtime.count_status);
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  *properties = {};
  std::strcpy(properties->name, "stand-in");
  properties->major = runtime.capabilities[static_cast<std::size_t>(device)].first;
  properties->minor = runtime.capabilities[static_cast<std::size_t>(device)].second;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = runtime.device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  runtime.device = device;
  runtime.devices_set.push_back(device);
  return cudaSuccess;
}
cudaError_t cudaHostRegister(void* block, std::size_t bytes, unsigned) {
  if (bytes > runtime.most_pinned || pinned_bytes() > runtime.most_pinned - bytes)
    return runtime.failed(runtime.refusal);
  runtime.pinned[block] = bytes;
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* block) {
  return runtime.failed(runtime.pinned.erase(block) == 1 ? cudaSuccess : cudaErrorHostMemoryNotRegistered);
}
cudaError_t cudaGetLastError() {
  return std::exchange(runtime.last_error, cudaSuccess);
}
const char* cudaGetErrorString(cudaError_t) {
  return runtime.refusal_text.c_str();
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {};
  attributes->ptxVersion = runtime.ptx_version;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) {
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void*, const cudaLaunchConfig_t* config) {
  ++runtime.cluster_questions;
  EXPECT_EQ(config->numAttrs, 1U);
  EXPECT_EQ(config->attrs->val.clusterDim.x, config->gridDim.x);
  *clusters = runtime.active_clusters;
  return runtime.failed(runtime.cluster_status);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = nullptr;
  return runtime.failed(runtime.has_memory ? cudaSuccess : cudaErrorUnknown);
}
cudaError_t cudaStreamDestroy(cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = nullptr;
  return runtime.has_memory ? cudaSuccess : cudaErrorUnknown;
}
cudaError_t cudaMalloc(void** block, std::size_t bytes) {
  if (!runtime.has_memory) return cudaErrorUnknown;
  // A block for several pieces: DeviceArena then asks for the piece.
  if (bytes == kSharedBlock) return runtime.failed(cudaErrorMemoryAllocation);
  *block = reinterpret_cast<void*>(std::accumulate(runtime.blocks.begin(), runtime.blocks.end(), kMemory));
  runtime.blocks.push_back(bytes);
  return cudaSuccess;
}
cudaError_t cudaMemset(void*, int, std::size_t) {
  return runtime.has_memory ? cudaSuccess : cudaErrorUnknown;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return runtime.has_memory ? cudaSuccess : cudaErrorUnknown;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t) {
  runtime.copies.emplace_back(kind == cudaMemcpyDeviceToHost ? from : to, bytes);
  return runtime.has_memory ? cudaSuccess : cudaErrorUnknown;
}

// What these tests do not reach.
cudaError_t cudaDriverGetVersion(int*) {
  return cudaErrorUnknown;
}
cudaError_t cudaEventDestroy(cudaEvent_t) {
  return cudaErrorUnknown;
}
cudaError_t cudaEventElapsedTime(float*, cudaEvent_t, cudaEvent_t) {
  return cudaErrorUnknown;
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
  return cudaErrorUnknown;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return cudaErrorUnknown;
}
cudaError_t cudaFree(void*) {
  return cudaErrorUnknown;
}
cudaError_t cudaMemGetInfo(std::size_t*, std::size_t*) {
  return cudaErrorUnknown;
}

}  // extern "C"

namespace imgpipe::test::cuda_stand_in_test {
namespace {

constexpr std::size_t kBlock = std::size_t{4} << 20;

class CudaStandIn : public testing::Test {
 protected:
  CudaStandIn() {
    runtime = Runtime();
    // Each text is noted once in a process: every test has its own.
    runtime.refusal_text = testing::UnitTest::GetInstance()->current_test_info()->name();
    (void)take_device_warnings();
  }
};

TEST_F(CudaStandIn, MemoryThatCannotBePinnedIsUsedAndNamedOnce) {
  runtime.most_pinned = 0;
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

TEST_F(CudaStandIn, IdleBlocksGiveUpTheirPinsFirst) {
  runtime.most_pinned = 3 * kBlock;
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
  // Nothing is idle any more.
  void* const last = memory.allocate(2 * kBlock, 64);
  memory.pin(last);
  std::memset(last, 1, 2 * kBlock);
  EXPECT_FALSE(runtime.pinned.contains(last));
  EXPECT_EQ(take_device_warnings().size(), 1U);
  memory.deallocate(used, kBlock, 64);
  memory.deallocate(large, 2 * kBlock, 64);
  // The pinned block of the two that fit is the better one.
  EXPECT_EQ(memory.allocate(2 * kBlock, 64), large);
  memory.deallocate(large, 2 * kBlock, 64);
  // The block can be pinned later.
  memory.pin(last);
  EXPECT_TRUE(runtime.pinned.contains(last));
  memory.deallocate(last, 2 * kBlock, 64);
}

TEST_F(CudaStandIn, OtherFailuresOfPinningAreErrors) {
  runtime.most_pinned = 0;
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

TEST_F(CudaStandIn, TheCurrentDeviceOfAThreadIsRestored) {
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

// To make another device current there would make a context on it.
TEST_F(CudaStandIn, OurOwnThreadsKeepTheirDevice) {
  EXPECT_FALSE(is_own_thread());
  const auto use_device = [] {
    EXPECT_TRUE(is_own_thread());
    const CurrentDevice device(1);
  };
  start_thread(use_device).join();
  EXPECT_EQ(runtime.devices_set, std::vector<int>{1});
  for (int i = 0; i < 2; ++i) start_threads(1, [&](int) { use_device(); }).front().join();
  EXPECT_EQ(runtime.devices_set, (std::vector<int>{1, 1, 1}));
  // Not so in the middle of a lane's work, where pinned memory of another device is freed.
  runtime.devices_set.clear();
  start_thread([] {
    runtime.device = 3;
    PinnedMemory memory(PinnedMemory::When::at_once, 0);
    memory.use_device(1);
    memory.deallocate(memory.allocate(kBlock, 64), kBlock, 64);
  }).join();
  EXPECT_EQ(runtime.devices_set, (std::vector<int>{1, 3}));
}

TEST_F(CudaStandIn, ALaneLeavesTheCallersDevice) {
  runtime.capabilities = {{9, 0}, {9, 0}};
  const std::vector<int> devices{1};
  const auto lanes = make_cuda_lanes(devices, 1, make_lane_memory(0));
  EXPECT_THROW(lanes.front()->start(), Error) << "the stand-in makes no streams";
  EXPECT_EQ(runtime.devices_set, (std::vector<int>{1, 0}));
}

TEST_F(CudaStandIn, AListOfDevicesLeavesNoError) {
  runtime.count_status = cudaErrorNoDevice;
  EXPECT_TRUE(list_cuda_devices().devices.empty());
  EXPECT_EQ(runtime.last_error, cudaSuccess) << "the caller's next launch would report it";
}

TEST_F(CudaStandIn, DevicesThatAreTooOldAreSkippedOrRefused) {
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
  EXPECT_EQ(failure_of(kAnyCudaDevice), "cuda cannot be used: there is no CUDA device");
}

TEST_F(CudaStandIn, TheLabTakesTheFirstDeviceThatIsNotTooOld) {
  runtime.capabilities = {{6, 2}, {9, 0}};
  BenchOptions options;
  options.device = "cuda";
  OwnKernels own(options);
  EXPECT_THROW(Bench(options, own), Error) << "the stand-in makes no streams";
  EXPECT_EQ(runtime.devices_set, std::vector<int>{1});
  EXPECT_EQ(take_device_warnings().size(), 1U) << "of the device that is skipped";
  runtime.devices_set.clear();
  options.device = "cuda:0";
  EXPECT_THROW(Bench(options, own), Error);
  EXPECT_TRUE(runtime.devices_set.empty());
}

TEST_F(CudaStandIn, ClustersRunWhereTheDeviceCanPlaceOne) {
  const char kernel = 0;
  const auto clusters = [&kernel] {
    bool found = true;
    EXPECT_EQ(runs_in_clusters(&kernel, 8, 1024, 0, found), cudaSuccess);
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

// The least limit within which the whole of a plan goes to a device.
std::int64_t whole_bytes(const Plan& plan, bool keep_outputs) {
  Job job;
  job.keep_outputs = keep_outputs;
  std::int64_t low = 0;
  std::int64_t high = std::int64_t{1} << 34;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (must_go_in_bands(middle, job, plan, 0) ? low : high) = middle;
  }
  return high;
}

// The blocks that a plan takes, in order, where its frames lie in them, and what is copied of tables and
// counts.
std::string device_text(const Plan& plan, bool keep_outputs, DeviceRun::Decoded decoded) {
  runtime.blocks.clear();
  runtime.copies.clear();
  PinnedMemory pinned(PinnedMemory::When::on_demand);
  Context context(pinned);
  Timeline timeline;
  const DeviceRun run(context, plan, timeline, keep_outputs, decoded);
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

TEST_F(CudaStandIn, PlansTakeTheDeviceMemoryThatTheyTookBefore) {
  runtime.has_memory = true;
  expect_recorded("tests/cuda_stand_in/device_memory.txt", kGroups, [](const Plan& plan) {
    std::vector<std::string> numbers(kGroups.size());
    for (const bool keep_outputs : {false, true}) {
      numbers[0] += plan.steps.empty() ? "none " : std::to_string(whole_bytes(plan, keep_outputs)) + " ";
      for (const auto decoded : {DeviceRun::Decoded::on_host, DeviceRun::Decoded::with_first_steps})
        numbers[1] += device_text(plan, keep_outputs, decoded);
    }
    return numbers;
  });
}

}  // namespace
}  // namespace imgpipe::test::cuda_stand_in_test

#endif
