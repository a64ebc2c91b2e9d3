#ifdef IMGPIPE_TEST_CUDA

#include "tests/cuda_stand_in/stand_in_runtime.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string_view>
#include <utility>

#include <cuda.h>
#include <gtest/gtest.h>

#include "kernels/jpeg/entropy_layout.h"

namespace imgpipe::test {

StandInRuntime runtime;

namespace {

constexpr std::size_t kMemory = std::size_t{1} << 30;       // the first block's address
constexpr std::size_t kSharedBlock = std::size_t{8} << 20;  // DeviceArena's block for small allocations

thread_local cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;

std::string digest_of_rows(const void* from, std::size_t stride, std::size_t width, std::size_t height) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (std::size_t y = 0; y < height; ++y) {
    const auto* const row = static_cast<const unsigned char*>(from) + y * stride;
    for (std::size_t x = 0; x < width; ++x) hash = (hash ^ row[x]) * 16777619U;
  }
  return std::to_string(hash);
}

const char* direction_of(cudaMemcpyKind kind) {
  return kind == cudaMemcpyDeviceToHost ? "down " : "up ";
}

// Writes the results of kernels: verdicts on scans, and the bytes of a JPEG.
void put_results(void* to, std::size_t bytes) {
  const std::uint32_t verdict = runtime.is_intact ? entropy::kIntact : 0;
  if (bytes == sizeof verdict) std::memcpy(to, &verdict, bytes);
  if (bytes == sizeof runtime.scan_bytes) std::memcpy(to, &runtime.scan_bytes, bytes);
}

// The driver's functions.
CUresult get_current_context(CUcontext* context) {
  *context = nullptr;
  return CUDA_SUCCESS;
}
CUresult record_context(CUcontext, CUevent) {
  const std::lock_guard lock(runtime.mutex);
  ++runtime.context_records;
  runtime.log("mark all work");
  return CUDA_SUCCESS;
}

cudaError_t done(const std::string& call) {
  runtime.log(call);
  return runtime.mode == StandInMode::runs ? cudaSuccess : cudaErrorUnknown;
}

}  // namespace

void StandInRuntime::reset() {
  const std::lock_guard lock(mutex);
  mode = StandInMode::none;
  capabilities = {{9, 0}};
  device = 0;
  devices_set.clear();
  max_pinned = std::numeric_limits<std::size_t>::max();
  refusal = cudaErrorMemoryAllocation;
  count_status = cudaSuccess;
  refusal_text = "no more";
  pinned.clear();
  last_error = cudaSuccess;
  ptx_version = 90;
  active_clusters = 1;
  cluster_status = cudaSuccess;
  cluster_questions = 0;
  blocks.clear();
  copies.clear();
  free_bytes = std::size_t{1} << 40;
  for (const auto& [block, bytes] : memory) std::free(block);
  memory.clear();
  mallocs = first_failing_malloc = last_failing_malloc = 0;
  is_intact = true;
  scan_bytes = 0;
  context_records = 0;
  query_status = legacy_capture = cudaSuccess;
  modes_in_calls.clear();
  logging_thread = {};
  calls.clear();
  is_starting = false;
}

void StandInRuntime::start() {
  const std::lock_guard lock(mutex);
  is_starting = false;
  started.notify_all();
}

std::size_t StandInRuntime::pinned_bytes() const {
  std::size_t sum = 0;
  for (const auto& [block, bytes] : pinned) sum += bytes;
  return sum;
}

cudaError_t StandInRuntime::failed(cudaError_t status) {
  if (status != cudaSuccess) last_error = status;
  return status;
}

void StandInRuntime::log(const std::string& call) {
  if (std::this_thread::get_id() == logging_thread) calls.push_back(call);
}

}  // namespace imgpipe::test

using imgpipe::test::direction_of;
using imgpipe::test::done;
using imgpipe::test::runtime;
using imgpipe::test::StandInMode;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  std::unique_lock lock(runtime.mutex);
  runtime.started.wait(lock, [] { return !runtime.is_starting; });
  *count = static_cast<int>(runtime.capabilities.size());
  return runtime.failed(runtime.count_status);
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  *properties = {};
  std::strcpy(properties->name, "stand-in");
  properties->major = runtime.capabilities[static_cast<std::size_t>(device)].first;
  properties->minor = runtime.capabilities[static_cast<std::size_t>(device)].second;
  properties->multiProcessorCount = 4;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  const std::lock_guard lock(runtime.mutex);
  runtime.log("get device");
  if (std::this_thread::get_id() == runtime.logging_thread) {
    runtime.is_starting = false;
    runtime.started.notify_all();
  }
  *device = runtime.device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  const std::lock_guard lock(runtime.mutex);
  runtime.log("set device " + std::to_string(device));
  runtime.device = device;
  runtime.devices_set.push_back(device);
  return cudaSuccess;
}
cudaError_t cudaHostRegister(void* block, std::size_t bytes, unsigned) {
  const std::lock_guard lock(runtime.mutex);
  runtime.log("pin " + std::to_string(bytes));
  if (bytes > runtime.max_pinned || runtime.pinned_bytes() > runtime.max_pinned - bytes)
    return runtime.failed(runtime.refusal);
  runtime.pinned[block] = bytes;
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* block) {
  const std::lock_guard lock(runtime.mutex);
  runtime.log("unpin");
  return runtime.failed(runtime.pinned.erase(block) == 1 ? cudaSuccess : cudaErrorHostMemoryNotRegistered);
}
cudaError_t cudaGetLastError() {
  const std::lock_guard lock(runtime.mutex);
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
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 227 << 10;  // maximum shared memory per block
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void*, const cudaLaunchConfig_t* config) {
  const std::lock_guard lock(runtime.mutex);
  ++runtime.cluster_questions;
  EXPECT_EQ(config->numAttrs, 1U);
  EXPECT_EQ(config->attrs->val.clusterDim.x, config->gridDim.x);
  *clusters = runtime.active_clusters;
  return runtime.failed(runtime.cluster_status);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  const std::lock_guard lock(runtime.mutex);
  *stream = nullptr;
  return runtime.failed(runtime.mode != StandInMode::none ? cudaSuccess : cudaErrorUnknown);
}
cudaError_t cudaStreamDestroy(cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = nullptr;
  return runtime.mode != StandInMode::none ? cudaSuccess : cudaErrorUnknown;
}
cudaError_t cudaMalloc(void** block, std::size_t bytes) {
  const std::lock_guard lock(runtime.mutex);
  if (runtime.mode == StandInMode::none) return cudaErrorUnknown;
  if (runtime.mode == StandInMode::plans) {
    // A shared block fails, so that DeviceArena allocates each part separately.
    if (bytes == imgpipe::test::kSharedBlock) return runtime.failed(cudaErrorMemoryAllocation);
    *block = reinterpret_cast<void*>(
        std::accumulate(runtime.blocks.begin(), runtime.blocks.end(), imgpipe::test::kMemory));
    runtime.blocks.push_back(bytes);
    return cudaSuccess;
  }
  ++runtime.mallocs;
  runtime.modes_in_calls.push_back(imgpipe::test::capture_mode);
  const bool fails = bytes > runtime.free_bytes || (runtime.mallocs >= runtime.first_failing_malloc &&
                                                    runtime.mallocs <= runtime.last_failing_malloc);
  runtime.log((fails ? "no malloc " : "malloc ") + std::to_string(bytes));
  if (fails) return runtime.failed(cudaErrorMemoryAllocation);
  *block = std::calloc(bytes, 1);
  runtime.memory[*block] = bytes;
  runtime.free_bytes -= bytes;
  return cudaSuccess;
}
cudaError_t cudaFree(void* block) {
  if (block == nullptr) return cudaSuccess;
  const std::lock_guard lock(runtime.mutex);
  runtime.modes_in_calls.push_back(imgpipe::test::capture_mode);
  const auto found = runtime.memory.find(block);
  if (found == runtime.memory.end()) return cudaErrorUnknown;
  runtime.log("free " + std::to_string(found->second));
  runtime.free_bytes += found->second;
  std::free(block);
  runtime.memory.erase(found);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  const std::lock_guard lock(runtime.mutex);
  *free_bytes = runtime.free_bytes;
  *total_bytes = std::size_t{1} << 40;
  return done("how much is free");
}
// cudaMalloc() returns zeroed memory.
cudaError_t cudaMemset(void*, int, std::size_t) {
  const std::lock_guard lock(runtime.mutex);
  runtime.log("clear");
  return runtime.mode != StandInMode::none ? cudaSuccess : cudaErrorUnknown;
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
  const std::lock_guard lock(runtime.mutex);
  if (runtime.mode == StandInMode::runs) std::memset(to, value, bytes);
  return done("set " + std::to_string(bytes));
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  const std::lock_guard lock(runtime.mutex);
  runtime.log("wait for the stream");
  return runtime.mode != StandInMode::none ? cudaSuccess : cudaErrorUnknown;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const std::lock_guard lock(runtime.mutex);
  if (runtime.mode == StandInMode::runs) std::memcpy(to, from, bytes);
  return done(direction_of(kind) + std::to_string(bytes) + " and wait");
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t) {
  const std::lock_guard lock(runtime.mutex);
  if (runtime.mode == StandInMode::plans) {
    runtime.copies.emplace_back(kind == cudaMemcpyDeviceToHost ? from : to, bytes);
    return cudaSuccess;
  }
  if (runtime.mode == StandInMode::runs) {
    std::memcpy(to, from, bytes);
    if (kind == cudaMemcpyDeviceToHost) imgpipe::test::put_results(to, bytes);
  }
  return done(direction_of(kind) + std::to_string(bytes));
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t) {
  const std::lock_guard lock(runtime.mutex);
  if (runtime.mode == StandInMode::runs) {
    for (std::size_t y = 0; y < height; ++y)
      std::memcpy(static_cast<char*>(to) + y * to_stride, static_cast<const char*>(from) + y * from_stride,
                  width);
  }
  return done(direction_of(kind) + std::to_string(width) + "x" + std::to_string(height) + " of " +
              imgpipe::test::digest_of_rows(to, to_stride, width, height));
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
  const std::lock_guard lock(runtime.mutex);
  return done("mark");
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  const std::lock_guard lock(runtime.mutex);
  return done("wait for a mark");
}
cudaError_t cudaEventQuery(cudaEvent_t) {
  const std::lock_guard lock(runtime.mutex);
  runtime.log("query");
  return runtime.failed(runtime.query_status);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  const std::lock_guard lock(runtime.mutex);
  *status = cudaStreamCaptureStatusNone;
  return runtime.failed(runtime.legacy_capture);
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(*mode, imgpipe::test::capture_mode);
  return cudaSuccess;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  *result = cudaDriverEntryPointSuccess;
  *function = std::string_view(name) == "cuCtxRecordEvent"
                  ? reinterpret_cast<void*>(&imgpipe::test::record_context)
                  : reinterpret_cast<void*>(&imgpipe::test::get_current_context);
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t, cudaEvent_t) {
  const std::lock_guard lock(runtime.mutex);
  *ms = 0;
  return done("time");
}
cudaError_t cudaEventDestroy(cudaEvent_t) {
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3 grid, dim3, void**, std::size_t, cudaStream_t) {
  const std::lock_guard lock(runtime.mutex);
  return done("launch " + std::to_string(grid.x) + "," + std::to_string(grid.y));
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void*, void**) {
  const std::lock_guard lock(runtime.mutex);
  return done("launch clusters of " + std::to_string(config->gridDim.x));
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void*) {
  *kernel = nullptr;
  return cudaSuccess;
}
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, CUstream_st*) {
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void*) {
  *grid = *block = {};
  *shared = 0;
  return cudaSuccess;
}

// Not called by these tests.
cudaError_t cudaDriverGetVersion(int*) {
  return cudaErrorUnknown;
}

}  // extern "C"

#endif
