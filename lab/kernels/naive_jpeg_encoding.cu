#include <algorithm>
#include <cstring>

#include <cuda_runtime.h>

#include "images/codecs/jpeg/forward_scan.h"
#include "lab/kernels/naive_groups.h"

namespace imgpipe {
namespace {

constexpr unsigned kThreads = 128;
// Capacity per block, with stuffing; only noise needs more.
constexpr std::size_t kBlockCapacity = 128;

struct NaiveEncodingImage {
  Plane<const Sample8, Device> pixels;
  ForwardScan scan;
  QuantizerStep steps[2][kBlockSamples];  // luma, chroma; in zigzag order
  PaddedCode codes[2][kDcCodes + 16];
  std::uint8_t zigzag[kBlockSamples];
  std::uint64_t values;  // offset in the group's memory: std::int16_t in zigzag order, block after block
  std::uint64_t out, capacity;
  bool halved;

  [[nodiscard]] IMGPIPE_HOST_DEVICE std::int64_t blocks() const {
    return std::int64_t{scan.mcus} * scan.blocks_in_mcu;
  }
};

// Returns a sample of the image, or the nearest one if (x, y) is beyond it.
__device__ int full_sample(const NaiveEncodingImage& picture, int component, std::int64_t x, std::int64_t y) {
  x = min(x, picture.pixels.width - 1);
  y = min(y, picture.pixels.height - 1);
  const Sample8* pixel = picture.pixels.row(y) + x * picture.pixels.channels;
  if (picture.pixels.channels == 1) return pixel[0];
  if (component == 0) return luma_sample(pixel[0], pixel[1], pixel[2]);
  return component == 1 ? blue_difference(pixel[0], pixel[1], pixel[2])
                        : red_difference(pixel[0], pixel[1], pixel[2]);
}

__device__ int plane_sample(const NaiveEncodingImage& picture, int component, std::int64_t x,
                            std::int64_t y) {
  if (component == 0 || !picture.halved) return full_sample(picture, component, x, y);
  y = min(y, (picture.pixels.height + 1) / 2 - 1);
  int sum = 0;
  for (int i = 0; i < 4; ++i) sum += full_sample(picture, component, 2 * x + i % 2, 2 * y + i / 2);
  return halved_sample(sum, x);
}

// blockIdx.y is the image.
__global__ __launch_bounds__(kThreads) void transform_kernel(const NaiveEncodingImage* pictures,
                                                             std::uint8_t* memory) {
  const NaiveEncodingImage& picture = pictures[blockIdx.y];
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= picture.blocks()) return;
  const BlockPosition position =
      block_position(picture.scan, static_cast<std::int32_t>(i / picture.scan.blocks_in_mcu),
                     static_cast<std::int32_t>(i % picture.scan.blocks_in_mcu));
  std::int32_t block[kBlockSide][kBlockSide];
  for (int y = 0; y < kBlockSide; ++y) {
    for (int x = 0; x < kBlockSide; ++x)
      block[y][x] = plane_sample(picture, position.component, std::int64_t{position.x} * kBlockSide + x,
                                 std::int64_t{position.y} * kBlockSide + y) -
                    kSampleCenter;
    forward_dct_pass<true>(block[y]);
  }
  for (int x = 0; x < kBlockSide; ++x) {
    std::int32_t column[kBlockSide];
    for (int y = 0; y < kBlockSide; ++y) column[y] = block[y][x];
    forward_dct_pass<false>(column);
    for (int y = 0; y < kBlockSide; ++y) block[y][x] = column[y];
  }
  auto* values = reinterpret_cast<std::int16_t*>(memory + picture.values) + i * kBlockSamples;
  for (int k = 0; k < kBlockSamples; ++k) {
    const int at = picture.zigzag[k];
    const std::int32_t x = block[at / kBlockSide][at % kBlockSide];
    const auto magnitude =
        static_cast<std::int32_t>(quantized_magnitude(x, picture.steps[position.component > 0 ? 1 : 0][k]));
    values[k] = static_cast<std::int16_t>(k > 0 && position.dummy ? 0 : x < 0 ? -magnitude : magnitude);
  }
}

// Writes bits with a zero byte after each 0xFF; discards bytes beyond `capacity`.
class StuffedBits {
 public:
  __device__ StuffedBits(std::uint8_t* out, std::uint64_t capacity) : out_(out), room_(capacity) {}
  __device__ void put(std::uint32_t value, int count) {
    held_ = held_ << count | value;
    for (count_ += count; count_ >= 8;) {
      count_ -= 8;
      const auto byte = static_cast<std::uint8_t>(held_ >> count_);
      put_byte(byte);
      if (byte == 0xFF) put_byte(0);
    }
  }
  __device__ std::uint64_t finish() {
    if (count_ > 0) put((1U << (8 - count_)) - 1, 8 - count_);
    return at_ <= room_ ? at_ : 0;
  }

 private:
  __device__ void put_byte(std::uint8_t byte) {
    if (at_ < room_) out_[at_] = byte;
    ++at_;
  }
  std::uint8_t* out_;
  std::uint64_t room_, at_ = 0, held_ = 0;
  int count_ = 0;
};

__global__ void code_kernel(const NaiveEncodingImage* pictures, std::uint8_t* memory,
                            std::uint64_t* results) {
  const NaiveEncodingImage& picture = pictures[blockIdx.x];
  StuffedBits bits(memory + picture.out, picture.capacity);
  const auto* values = reinterpret_cast<const std::int16_t*>(memory + picture.values);
  std::int32_t dc[3] = {0, 0, 0};
  for (std::int64_t i = 0; i < picture.blocks(); ++i, values += kBlockSamples) {
    const int component =
        block_position(picture.scan, static_cast<std::int32_t>(i / picture.scan.blocks_in_mcu),
                       static_cast<std::int32_t>(i % picture.scan.blocks_in_mcu))
            .component;
    std::uint64_t positions = 0;
    for (int k = 1; k < kBlockSamples; ++k) {
      if (values[k] != 0) positions |= zigzag_index_bit(k);
    }
    const std::int32_t value = values[0];
    code_block(
        value - dc[component], positions, [&](int k) { return values[k] + (values[k] >> 15); },
        picture.codes[component > 0 ? 1 : 0], bits);
    dc[component] = value;
  }
  results[blockIdx.x] = bits.finish();
}

std::int64_t blocks_of(const JpegEncodingTask& task) {
  const ForwardScan scan =
      forward_scan(task.pixels.width, task.pixels.height, task.pixels.channels, task.subsampled_chroma);
  return std::int64_t{scan.mcus} * scan.blocks_in_mcu;
}
std::size_t value_bytes(std::int64_t blocks) {
  return rounded_part(static_cast<std::size_t>(blocks) * kBlockSamples * sizeof(std::int16_t));
}
std::size_t scan_capacity(std::int64_t blocks) {
  return rounded_part(static_cast<std::size_t>(blocks) * kBlockCapacity + kPartBoundary);
}

}  // namespace

// Memory: the images; for each its values, then its scan; the sizes of the scans.
NaiveJpegEncoding::NaiveJpegEncoding(std::vector<JpegEncodingTask> tasks) : NaiveGroup(std::move(tasks)) {
  memory_.upload_bytes = rounded_part(tasks_.size() * sizeof(NaiveEncodingImage));
  memory_.results_offset = memory_.upload_bytes;
  for (const JpegEncodingTask& task : tasks_) {
    const std::int64_t blocks = blocks_of(task);
    max_blocks_ = std::max(max_blocks_, blocks);
    memory_.results_offset += value_bytes(blocks) + scan_capacity(blocks);
  }
  memory_.results_bytes = tasks_.size() * sizeof(std::uint64_t);
  memory_.bytes = memory_.results_offset + memory_.results_bytes;
}

void NaiveJpegEncoding::write_upload(std::byte* to) const {
  std::memset(to, 0, memory_.upload_bytes);
  std::size_t at = memory_.upload_bytes;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const JpegEncodingTask& task = tasks_[i];
    NaiveEncodingImage picture{};
    picture.pixels = task.pixels;
    picture.scan =
        forward_scan(task.pixels.width, task.pixels.height, task.pixels.channels, task.subsampled_chroma);
    picture.halved = task.pixels.channels == 3 && task.subsampled_chroma;
    for (std::size_t chroma = 0; chroma < 2; ++chroma) {
      const QuantizerSteps steps = quantizer_steps(task.quality, chroma != 0);
      for (std::size_t k = 0; k < steps.size(); ++k) picture.steps[chroma][k] = quantizer_step(steps[k]);
      std::ranges::copy(encoding_codes(chroma != 0), picture.codes[chroma]);
    }
    std::ranges::copy(kZigzag, picture.zigzag);
    picture.values = at;
    picture.out = at + value_bytes(picture.blocks());
    picture.capacity = scan_capacity(picture.blocks());
    at = picture.out + picture.capacity;
    std::memcpy(to + i * sizeof(picture), &picture, sizeof(picture));
  }
}

CudaStatus NaiveJpegEncoding::launch(std::byte* memory, const CudaLaunch& launch) const {
  const auto* pictures = reinterpret_cast<const NaiveEncodingImage*>(memory);
  auto* bytes = reinterpret_cast<std::uint8_t*>(memory);
  const auto images = static_cast<unsigned>(tasks_.size());
  const dim3 grid(static_cast<unsigned>((max_blocks_ + kThreads - 1) / kThreads), images);
  transform_kernel<<<grid, kThreads, 0, launch.stream>>>(pictures, bytes);
  code_kernel<<<images, 1, 0, launch.stream>>>(
      pictures, bytes, reinterpret_cast<std::uint64_t*>(memory + memory_.results_offset));
  return cudaGetLastError();
}

JpegEncoding::Scan NaiveJpegEncoding::scan(std::size_t image, const std::byte* results) const {
  std::size_t at = memory_.upload_bytes;
  for (std::size_t i = 0; i < image; ++i)
    at += value_bytes(blocks_of(tasks_[i])) + scan_capacity(blocks_of(tasks_[i]));
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, results + image * sizeof(bytes), sizeof(bytes));
  return {at + value_bytes(blocks_of(tasks_[image])), static_cast<std::size_t>(bytes)};
}

}  // namespace imgpipe
