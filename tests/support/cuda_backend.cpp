#include "tests/support/cuda_backend.h"

#include "pipeline/device.h"

#ifdef IMGPIPE_TEST_CUDA

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

#include <cuda_runtime.h>

#include "images/error.h"
#include "images/image.h"
#include "lab/pipeline/guarded_plane.h"
#include "pipeline/cuda/cuda_api.h"

namespace imgpipe::test {
namespace {

constexpr std::int64_t kGuard = 512;

// Device memory: `free` writable bytes, then canaries; or the given bytes, which must not change, then
// canaries.
class GuardedBytes {
 public:
  GuardedBytes(std::int64_t free, std::span<const std::byte> given) : free_(free) {
    before_.resize(static_cast<std::size_t>(free) + kGuard);
    for (std::size_t i = 0; i < before_.size(); ++i)
      before_[i] = static_cast<std::byte>((i * 2654435761U) >> 11);
    before_.insert(before_.begin(), given.begin(), given.end());
    memory_.reserve(before_.size());
    IMGPIPE_CUDA(cudaMemcpy(memory_.data(), before_.data(), before_.size(), cudaMemcpyHostToDevice));
  }
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(memory_.data()); }
  [[nodiscard]] bool is_whole() const {
    std::vector<std::byte> now(before_.size());
    IMGPIPE_CUDA(cudaMemcpy(now.data(), memory_.data(), now.size(), cudaMemcpyDeviceToHost));
    return std::equal(now.begin() + free_, now.end(), before_.begin() + free_);
  }

 private:
  std::int64_t free_;
  std::vector<std::byte> before_;
  DeviceBuffer memory_;
};

// `bytes`: the capacity of the memory that the work may write, as its table or as its scratch memory.
std::string run(const DeviceWork& work, const StageCall<Host>& call, std::int64_t bytes) {
  const Stream stream;
  StageCall<Device> device{};
  device.in.type = call.in.type;
  device.out.type = call.out.type;
  device.parameters = call.parameters;
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
  // Scratch memory or space for a table, and the given table, each followed by canaries.
  GuardedBytes scratch(bytes, {});
  GuardedBytes table(0, {call.table.data, static_cast<std::size_t>(call.table.bytes)});
  device.scratch = scratch.data();
  device.table = call.table.bytes > 0 ? Table<Device>{table.data(), call.table.bytes}
                                      : Table<Device>{scratch.data(), bytes};
  // Copies from pageable memory may return before they complete, and the stream does not wait for them.
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
  if (!table.is_whole()) return "the table was written to";
  if (!scratch.is_whole()) return "canary after a table or scratch was hit";
  IMGPIPE_CUDA(cudaMemcpy(call.histogram.data, counts.data(), counts_bytes, cudaMemcpyDeviceToHost));
  return "";
}

}  // namespace

std::string cuda_unavailable_reason() {
  return list_cuda_devices().unusable_reason;
}

std::string run_on_cuda(const DeviceWork& work, const StageCall<Host>& call, std::int64_t bytes) {
  try {
    return run(work, call, bytes);
  } catch (const Error& error) {
    return error.what();
  }
}

std::string run_on_cuda(const Stage& stage, const StageCall<Host>& call) {
  const Sample in = call.in.type.sample;
  const Sample out = makes_pixels(stage) ? call.out.type.sample : in;
  const Stage* const maker = table_maker(stage, call.parameters, Backend::cuda, in, out);
  // A constant table is made by the host; it may be empty.
  const bool makes_table = maker != nullptr && !maker->ports.in.empty() && call.table.bytes == 0;
  return run_on_cuda(
      [&](const StageCall<Device>& device, const CudaLaunch& launch) {
        if (makes_table) IMGPIPE_CUDA(static_cast<cudaError_t>(run_cuda(*maker, device, launch)));
        IMGPIPE_CUDA(static_cast<cudaError_t>(run_cuda(stage, device, launch)));
        return std::string();
      },
      call,
      makes_table ? table_bytes(stage, call.in.type, call.parameters)
                  : scratch_bytes(stage, call.in.type, call.parameters));
}

}  // namespace imgpipe::test

#else

namespace imgpipe::test {

std::string cuda_unavailable_reason() {
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
