// Runs the group on the device, between canaries.
#include <stdexcept>

#include "tests/support/entropy_group.h"

#ifdef IMGPIPE_TEST_CUDA

#include <algorithm>
#include <deque>

#include <cuda_runtime.h>

#include "pipeline/cuda/cuda_api.h"

namespace imgpipe::test {
namespace {

constexpr std::size_t kDeviceGuard = 512;
constexpr int kCanary = 0x5A;

void upload(void* to, const void* from, std::size_t bytes) {
  IMGPIPE_CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
}

// guard | bytes | guard, all canaries.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes) : bytes_(bytes) {
    buffer_.reserve(bytes + 2 * kDeviceGuard);
    IMGPIPE_CUDA(cudaMemset(buffer_.data(), kCanary, bytes + 2 * kDeviceGuard));
  }
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(buffer_.data()) + kDeviceGuard; }
  [[nodiscard]] std::vector<std::byte> download() const {
    std::vector<std::byte> all(bytes_ + 2 * kDeviceGuard);
    IMGPIPE_CUDA(cudaMemcpy(all.data(), buffer_.data(), all.size(), cudaMemcpyDeviceToHost));
    const auto is_canary = [](std::byte byte) { return byte == std::byte{kCanary}; };
    if (!std::all_of(all.begin(), all.begin() + kDeviceGuard, is_canary) ||
        !std::all_of(all.end() - kDeviceGuard, all.end(), is_canary))
      throw std::runtime_error("canary hit");
    return {all.begin() + kDeviceGuard, all.end() - kDeviceGuard};
  }

 private:
  std::size_t bytes_;
  DeviceBuffer buffer_;
};

// One decoding of the group, with its memory.
class Run {
 public:
  explicit Run(std::span<const GroupImage> images)
      : decoding_(tasks_of(images)), memory_(decoding_.memory().bytes) {
    std::vector<std::byte> bytes(decoding_.memory().upload_bytes);
    decoding_.write_upload(bytes.data());
    upload(memory_.data(), bytes.data(), bytes.size());
  }
  void launch() const {
    int multiprocessors = 0;
    IMGPIPE_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    IMGPIPE_CUDA(
        static_cast<cudaError_t>(decoding_.launch(memory_.data(), {stream_.get(), multiprocessors})));
  }
  [[nodiscard]] GroupResult result() const {
    IMGPIPE_CUDA(cudaStreamSynchronize(stream_.get()));
    const std::vector<std::byte> memory = memory_.download();
    GroupResult result;
    for (std::size_t i = 0; i < coefficients_.size(); ++i) {
      (void)streams_[i].download();
      const std::vector<std::byte> bytes = coefficients_[i].download();
      Coefficients values(bytes.size() / sizeof(std::int16_t));
      std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte*>(values.data()));
      if (!decoding_.is_intact(i, memory.data() + decoding_.memory().results_offset)) values.clear();
      result.push_back(std::move(values));
    }
    return result;
  }

 private:
  std::vector<EntropyTask> tasks_of(std::span<const GroupImage> images) {
    std::vector<EntropyTask> tasks;
    for (const GroupImage& image : images) {
      const BaselineScan& scan = image.jpeg->scan;
      streams_.emplace_back(image.staged->bytes.size());
      upload(streams_.back().data(), image.staged->bytes.data(), image.staged->bytes.size());
      const auto blocks = static_cast<std::size_t>(scan.mcus() * scan.blocks_in_mcu);
      coefficients_.emplace_back(blocks * kBlockSamples * sizeof(std::int16_t));
      tasks.push_back({&scan, &image.jpeg->tables, &image.staged->scan, streams_.back().data(),
                       reinterpret_cast<std::int16_t*>(coefficients_.back().data())});
    }
    IMGPIPE_CUDA(cudaDeviceSynchronize());
    return tasks;
  }

  std::deque<Guarded> streams_, coefficients_;
  EntropyDecoding decoding_;
  Guarded memory_;
  Stream stream_;
};

}  // namespace

GroupResult decode_on_cuda(std::span<const GroupImage> images, int streams) {
  std::deque<Run> runs;
  for (int i = 0; i < streams; ++i) runs.emplace_back(images);
  IMGPIPE_CUDA(cudaDeviceSynchronize());
  for (const Run& run : runs) run.launch();
  GroupResult result = runs.front().result();
  for (std::size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].result() != result) throw std::runtime_error("two runs at once differ");
  }
  return result;
}

}  // namespace imgpipe::test

#else

namespace imgpipe::test {

GroupResult decode_on_cuda(std::span<const GroupImage>, int) {
  throw std::runtime_error("this build has no CUDA");
}

}  // namespace imgpipe::test

#endif
