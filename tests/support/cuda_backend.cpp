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
#include "pipeline/cuda/cuda_api.h"

namespace imgpipe::test {
namespace {

constexpr std::int64_t kGuard = 512;

Sample canary(std::size_t index) {
  return static_cast<Sample>((index * 2654435761U) >> 11);
}

// A plane in device memory: guard | row | padding | row | padding ... | guard.
class DevicePlaneCopy {
 public:
  DevicePlaneCopy(const Shape& shape, int extra_vectors) : shape_(shape) {
    const std::int64_t row =
        (shape.width + kDeviceRowPixels - 1) / kDeviceRowPixels * kDeviceRowPixels * shape.channels;
    stride_ = (row + 15) / 16 * 16 + 16 * extra_vectors;
    host_.resize(static_cast<std::size_t>(stride_ * shape.height + 2 * kGuard));
    for (std::size_t i = 0; i < host_.size(); ++i) host_[i] = canary(i);
    buffer_.reserve(host_.size());
  }

  void upload(const ConstHostPlane* pixels) {
    if (pixels != nullptr) {
      for (std::int64_t y = 0; y < shape_.height; ++y) {
        std::memcpy(host_row(y), pixels->row(y), static_cast<std::size_t>(pixels->row_samples()));
      }
    }
    IMGPIPE_CUDA(cudaMemcpy(buffer_.data(), host_.data(), host_.size(), cudaMemcpyHostToDevice));
  }

  // "" or where a byte that is no pixel changed; the pixels go to `pixels`.
  std::string download(const HostPlane* pixels) {
    std::vector<Sample> now(host_.size());
    IMGPIPE_CUDA(cudaMemcpy(now.data(), buffer_.data(), now.size(), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < now.size(); ++i) {
      const std::int64_t at = static_cast<std::int64_t>(i) - kGuard;
      const bool inside =
          at >= 0 && at < stride_ * shape_.height && at % stride_ < shape_.width * shape_.channels;
      const bool may_change = inside && pixels != nullptr;
      if (!may_change && now[i] != host_[i]) {
        return std::string(inside ? "input changed" : "canary hit") + " at byte " + std::to_string(at) +
               ", stride " + std::to_string(stride_);
      }
    }
    if (pixels != nullptr) {
      for (std::int64_t y = 0; y < shape_.height; ++y) {
        std::memcpy(pixels->row(y), now.data() + kGuard + y * stride_,
                    static_cast<std::size_t>(pixels->row_samples()));
      }
    }
    return "";
  }

  [[nodiscard]] Plane<Sample, Device> plane() const {
    return {static_cast<Sample*>(buffer_.data()) + kGuard, shape_.width, shape_.height, stride_,
            shape_.channels};
  }

 private:
  Sample* host_row(std::int64_t y) { return host_.data() + kGuard + y * stride_; }

  Shape shape_;
  std::int64_t stride_ = 0;
  std::vector<Sample> host_;
  DeviceBuffer buffer_;
};

std::string run(const DeviceWork& work, const StageCall<Host>& call) {
  const Stream stream;
  StageCall<Device> device{};
  device.in.type = call.in.type;
  device.out.type = call.out.type;
  device.parameters = call.parameters;
  device.second = call.second;
  std::array<std::unique_ptr<DevicePlaneCopy>, 4> in;
  std::array<std::unique_ptr<DevicePlaneCopy>, 4> out;
  for (std::size_t i = 0; i < 4; ++i) {
    if (!call.in.planes[i].empty()) {
      const ConstHostPlane pixels = call.in.plane<Sample>(i);
      in[i] = std::make_unique<DevicePlaneCopy>(pixels.shape(), static_cast<int>(i));
      in[i]->upload(&pixels);
      device.in.planes[i] = in[i]->plane();
    }
    if (!call.out.planes[i].empty()) {
      out[i] = std::make_unique<DevicePlaneCopy>(call.out.planes[i].shape(), 3);
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
  // Copies from pageable memory may return before they have arrived, and the stream below does not wait for
  // them.
  IMGPIPE_CUDA(cudaDeviceSynchronize());
  int multiprocessors = 0;
  IMGPIPE_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  if (const std::string damage = work(device, {stream.get(), multiprocessors}); !damage.empty())
    return damage;
  IMGPIPE_CUDA(cudaStreamSynchronize(stream.get()));
  for (std::size_t i = 0; i < 4; ++i) {
    if (in[i] != nullptr) {
      if (const std::string damage = in[i]->download(nullptr); !damage.empty())
        return "input plane " + std::to_string(i) + ": " + damage;
    }
    if (out[i] != nullptr) {
      const HostPlane pixels = call.out.plane<Sample>(i);
      if (const std::string damage = out[i]->download(&pixels); !damage.empty())
        return "output plane " + std::to_string(i) + ": " + damage;
    }
  }
  IMGPIPE_CUDA(cudaMemcpy(call.histogram.data, counts.data(), counts_bytes, cudaMemcpyDeviceToHost));
  return "";
}

}  // namespace

std::string why_no_cuda() {
  return list_cuda_devices().unusable_reason;
}

std::string run_on_cuda(const DeviceWork& work, const StageCall<Host>& call) {
  try {
    return run(work, call);
  } catch (const Error& error) {
    return error.what();
  }
}

std::string run_on_cuda(const Stage& stage, const StageCall<Host>& call) {
  return run_on_cuda(
      [&](const StageCall<Device>& device, const CudaLaunch& launch) {
        IMGPIPE_CUDA(static_cast<cudaError_t>(stage.u8.cuda(device, launch)));
        return std::string();
      },
      call);
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

std::string run_on_cuda(const DeviceWork&, const StageCall<Host>&) {
  return "this build has no CUDA";
}

}  // namespace imgpipe::test

#endif
