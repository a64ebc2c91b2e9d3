#include "tests/support/cuda_backend.h"

#include "pipeline/device.h"

#ifdef IMGPIPE_TEST_CUDA

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include <cuda_runtime.h>

#include "images/error.h"
#include "images/image.h"
#include "lab/pipeline/guarded_plane.h"
#include "pipeline/cuda/cuda_api.h"

namespace imgpipe::test {
namespace {

constexpr std::int64_t kGuard = 512;

std::byte canary(std::size_t index) {
  return static_cast<std::byte>((index * 2654435761U) >> 11);
}

// `finds_bytes`: the capacity of StageCall::finds.
std::string run(const DeviceWork& work, const StageCall<Host>& call, std::int64_t finds_bytes) {
  const Stream stream;
  StageCall<Device> device{};
  device.in.type = call.in.type;
  device.out.type = call.out.type;
  device.parameters = call.parameters;
  device.second = call.second;
  std::array<std::unique_ptr<GuardedPlane>, 4> in;
  std::array<std::unique_ptr<GuardedPlane>, 4> out;
  for (std::size_t i = 0; i < 4; ++i) {
    if (!call.in.planes[i].empty()) {
      const ConstHostView& pixels = call.in.planes[i];
      in[i] = std::make_unique<GuardedPlane>(pixels.shape(), static_cast<int>(i));
      in[i]->upload(&pixels);
      device.in.planes[i] = in[i]->plane();
    }
    if (!call.out.planes[i].empty()) {
      out[i] = std::make_unique<GuardedPlane>(call.out.planes[i].shape(), 3);
      out[i]->upload(nullptr);
      device.out.planes[i] = out[i]->plane();
    }
  }
  DeviceBuffer counts;
  const std::size_t counts_bytes =
      static_cast<std::size_t>(call.histogram.stride * call.histogram.height) * sizeof(std::uint64_t);
  counts.reserve(counts_bytes);
  IMGPIPE_CUDA(cudaMemcpy(counts.data(), call.histogram.data, counts_bytes, cudaMemcpyHostToDevice));
  device.histogram = {static_cast<std::uint64_t*>(counts.data()), call.histogram.width, call.histogram.height,
                      call.histogram.stride, 1};
  DeviceBuffer table;
  if (call.prepared.bytes > 0) {
    const auto table_bytes = static_cast<std::size_t>(call.prepared.bytes);
    table.reserve(table_bytes);
    IMGPIPE_CUDA(cudaMemcpy(table.data(), call.prepared.data, table_bytes, cudaMemcpyHostToDevice));
    device.prepared = {static_cast<const std::byte*>(table.data()), call.prepared.bytes};
  }
  // The derived data, or space for it, followed by a guard; filled with canaries.
  DeviceBuffer finds;
  const auto room = static_cast<std::size_t>(std::max(call.found.bytes, finds_bytes));
  std::vector<std::byte> finds_before(room + kGuard);
  for (std::size_t i = 0; i < finds_before.size(); ++i) finds_before[i] = canary(i);
  if (call.found.bytes > 0)
    std::memcpy(finds_before.data(), call.found.data, static_cast<std::size_t>(call.found.bytes));
  finds.reserve(finds_before.size());
  IMGPIPE_CUDA(cudaMemcpy(finds.data(), finds_before.data(), finds_before.size(), cudaMemcpyHostToDevice));
  if (call.found.bytes > 0) {
    device.found = {static_cast<const std::byte*>(finds.data()), call.found.bytes};
  } else {
    device.finds = static_cast<std::byte*>(finds.data());
  }
  // Copies from pageable memory may return early, and the stream below does not wait for them.
  IMGPIPE_CUDA(cudaDeviceSynchronize());
  int multiprocessors = 0;
  IMGPIPE_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  if (const std::string damage = work(device, {stream.get(), multiprocessors}); !damage.empty())
    return damage;
  IMGPIPE_CUDA(cudaStreamSynchronize(stream.get()));
  for (std::size_t i = 0; i < 4; ++i) {
    if (in[i] != nullptr) {
      if (const std::string damage = in[i]->download(nullptr); !damage.empty())
        return "input plane " + std::to_string(i) + " was written to: " + damage;
    }
    if (out[i] != nullptr) {
      const HostView& pixels = call.out.planes[i];
      if (const std::string damage = out[i]->download(&pixels); !damage.empty())
        return "written outside output plane " + std::to_string(i) + ": " + damage;
    }
  }
  std::vector<std::byte> finds_now(finds_before.size());
  IMGPIPE_CUDA(cudaMemcpy(finds_now.data(), finds.data(), finds_now.size(), cudaMemcpyDeviceToHost));
  const std::size_t may_change = call.found.bytes > 0 ? 0 : static_cast<std::size_t>(finds_bytes);
  if (!std::equal(finds_now.begin() + static_cast<std::ptrdiff_t>(may_change), finds_now.end(),
                  finds_before.begin() + static_cast<std::ptrdiff_t>(may_change)))
    return "canary behind what is found was hit";
  IMGPIPE_CUDA(cudaMemcpy(call.histogram.data, counts.data(), counts_bytes, cudaMemcpyDeviceToHost));
  return "";
}

}  // namespace

std::string why_no_cuda() {
  return list_cuda_devices().unusable_reason;
}

std::string run_on_cuda(const DeviceWork& work, const StageCall<Host>& call, std::int64_t finds_bytes) {
  try {
    return run(work, call, finds_bytes);
  } catch (const Error& error) {
    return error.what();
  }
}

std::string run_on_cuda(const Stage& stage, const StageCall<Host>& host_call) {
  StageCall<Host> call = host_call;
  if (stage.find_part != nullptr) call.found = {};  // a device derives it itself
  return run_on_cuda(
      [&](const StageCall<Device>& device, const CudaLaunch& launch) {
        IMGPIPE_CUDA(static_cast<cudaError_t>(run_cuda(stage, device, launch)));
        return std::string();
      },
      call, finds_bytes(stage, call.in.type, call.parameters));
}

}  // namespace imgpipe::test

#else

namespace imgpipe::test {

std::string why_no_cuda() {
  return list_cuda_devices().unusable_reason;
}

std::string run_on_cuda(const Stage&, const StageCall<Host>&) {
  return "this build has no CUDA";
}

std::string run_on_cuda(const DeviceWork&, const StageCall<Host>&, std::int64_t) {
  return "this build has no CUDA";
}

}  // namespace imgpipe::test

#endif
