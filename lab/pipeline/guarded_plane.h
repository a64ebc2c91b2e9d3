// A plane in device memory between canaries, which reveal writes out of bounds. Only for CUDA builds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "images/image.h"
#include "kernels/cuda_launch.h"
#include "pipeline/cuda/cuda_api.h"
#include "pipeline/cuda/device_memory.h"

namespace imgpipe {

// guard | row | padding | row | padding ... | guard
class GuardedPlane {
 public:
  // Rows are `extra_vectors` * 16 bytes further apart than necessary.
  GuardedPlane(const Shape& shape, int extra_vectors) : shape_(shape) {
    const std::int64_t pixels = (shape.width + kDeviceRowPixels - 1) / kDeviceRowPixels * kDeviceRowPixels;
    const std::int64_t row = pixels * shape.channels * bytes_per_sample(shape.sample);
    stride_ = (row + 15) / 16 * 16 + std::int64_t{16} * extra_vectors;
    host_.resize(static_cast<std::size_t>(stride_ * shape.height + 2 * kGuard));
    for (std::size_t i = 0; i < host_.size(); ++i) host_[i] = canary(i);
    buffer_.reserve(host_.size());
  }

  // Uploads canaries and, unless nullptr, `pixels`.
  void upload(const ConstHostView* pixels) {
    position(pixels);
    IMGPIPE_CUDA(cudaMemcpy(buffer_.data(), host_.data(), host_.size(), cudaMemcpyHostToDevice));
  }
  // Uploads canaries alone; arrive() copies the pixels.
  void upload_late(const ConstHostView& pixels) {
    IMGPIPE_CUDA(cudaMemcpy(buffer_.data(), host_.data(), host_.size(), cudaMemcpyHostToDevice));
    position(&pixels);
    late_.reserve(host_.size());
    IMGPIPE_CUDA(cudaMemcpy(late_.data(), host_.data(), host_.size(), cudaMemcpyHostToDevice));
  }
  void arrive(const Stream& stream) {
    IMGPIPE_CUDA(
        cudaMemcpyAsync(buffer_.data(), late_.data(), host_.size(), cudaMemcpyDeviceToDevice, stream.get()));
  }

  // Returns the position of a byte that changed but should not have, or "". If `pixels` is given, it receives
  // the image, whose bytes may change. Otherwise no byte may change.
  [[nodiscard]] std::string download(const HostView* pixels) {
    std::vector<std::byte> now(host_.size());
    IMGPIPE_CUDA(cudaMemcpy(now.data(), buffer_.data(), now.size(), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (now[i] == host_[i]) continue;
      const std::int64_t at = static_cast<std::int64_t>(i) - kGuard;
      const bool is_pixel = at >= 0 && at < stride_ * shape_.height && at % stride_ < shape_.row_bytes();
      if (!is_pixel || pixels == nullptr) return place_text(at);
    }
    if (pixels != nullptr) copy_pixels(ConstHostView(now.data() + kGuard, shape_, stride_), *pixels);
    return "";
  }

  [[nodiscard]] View<std::byte, Device> plane() const {
    return {static_cast<std::byte*>(buffer_.data()) + kGuard, shape_, stride_};
  }

 private:
  static constexpr std::int64_t kGuard = 4096;

  static std::byte canary(std::size_t index) { return static_cast<std::byte>((index * 2654435761U) >> 11); }

  void position(const ConstHostView* pixels) {
    if (pixels != nullptr) copy_pixels(*pixels, {host_.data() + kGuard, shape_, stride_});
  }

  [[nodiscard]] std::string place_text(std::int64_t at) const {
    if (at < 0) return std::to_string(-at) + " bytes before its first row";
    if (at >= stride_ * shape_.height)
      return std::to_string(at - stride_ * shape_.height) + " bytes after its last row";
    return "byte " + std::to_string(at % stride_) + " of row " + std::to_string(at / stride_) +
           ", which has " + std::to_string(shape_.row_bytes()) + " bytes";
  }

  Shape shape_;
  std::int64_t stride_ = 0;  // bytes
  std::vector<std::byte> host_;
  DeviceBuffer buffer_, late_;
};

}  // namespace imgpipe
