#include <algorithm>
#include <cstring>

#include <cuda_runtime.h>

#include "lab/kernels/jpeg_naive.h"
#include "lab/kernels/naive_groups.h"

namespace imgpipe {
namespace {

constexpr unsigned kNaiveBlock = 128;

// The work of one thread.
struct SegmentWork {
  ScanSegment segment;
  std::uint32_t image;
  std::uint32_t index;  // in its image
};
struct EntropyImage {
  NaiveScan scan;
  const std::uint8_t* stream;
  std::int16_t* coefficients;
};

__global__ void entropy_kernel(const EntropyImage* images, const SegmentWork* work, std::uint32_t count,
                               std::uint32_t* damaged) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const SegmentWork mine = work[i];
  const EntropyImage& image = images[mine.image];
  if (!decode_segment_naively(image.scan, image.stream, mine.segment, mine.index, image.coefficients))
    atomicExch(damaged + mine.image, 1U);
}

struct ReconstructionImage {
  NaiveScan scan;
  const std::int16_t* coefficients;
  std::int64_t planes;  // offset in the group's memory
  Plane<Sample8, Device> pixels;
};

// blockIdx.y is the image.
__global__ void block_kernel(const ReconstructionImage* images, std::uint8_t* memory) {
  const ReconstructionImage& image = images[blockIdx.y];
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < image.scan.blocks())
    reconstruct_block_naively(image.scan, image.coefficients, i, memory + image.planes);
}

__global__ void pixel_kernel(const ReconstructionImage* images, const std::uint8_t* memory) {
  const ReconstructionImage& image = images[blockIdx.y];
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= image.scan.width * image.scan.height) return;
  const std::int64_t x = i % image.scan.width;
  const std::int64_t y = i / image.scan.width;
  make_pixel_naively(image.scan, memory + image.planes, x, y,
                     image.pixels.row(y) + x * image.pixels.channels);
}

dim3 grid_of(std::int64_t threads, std::size_t images) {
  return {static_cast<unsigned>((threads + kNaiveBlock - 1) / kNaiveBlock), static_cast<unsigned>(images), 1};
}

}  // namespace

// Memory: the images, the segments, then one word per image, which is not 0 if the image is damaged.
NaiveEntropyDecoding::NaiveEntropyDecoding(std::vector<EntropyTask> tasks) : NaiveGroup(std::move(tasks)) {
  for (const EntropyTask& task : tasks_) segments_ += task.staged->segments.size();
  memory_.upload_bytes =
      rounded_part(tasks_.size() * sizeof(EntropyImage)) + rounded_part(segments_ * sizeof(SegmentWork));
  memory_.results_offset = memory_.upload_bytes;
  memory_.results_bytes = tasks_.size() * sizeof(std::uint32_t);
  memory_.bytes = memory_.results_offset + memory_.results_bytes;
}

void NaiveEntropyDecoding::write_upload(std::byte* to) const {
  std::memset(to, 0, memory_.upload_bytes);
  std::byte* work = to + rounded_part(tasks_.size() * sizeof(EntropyImage));
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const EntropyTask& task = tasks_[i];
    const EntropyImage image{naive_scan(*task.scan), reinterpret_cast<const std::uint8_t*>(task.stream),
                             task.coefficients};
    std::memcpy(to + i * sizeof(image), &image, sizeof(image));
    for (std::size_t k = 0; k < task.staged->segments.size(); ++k, work += sizeof(SegmentWork)) {
      const SegmentWork one{task.staged->segments[k], static_cast<std::uint32_t>(i),
                            static_cast<std::uint32_t>(k)};
      std::memcpy(work, &one, sizeof(one));
    }
  }
}

CudaStatus NaiveEntropyDecoding::launch(std::byte* memory, const CudaLaunch& launch) const {
  auto* damaged = reinterpret_cast<std::uint32_t*>(memory + memory_.results_offset);
  const cudaError_t cleared = cudaMemsetAsync(damaged, 0, memory_.results_bytes, launch.stream);
  if (cleared != cudaSuccess) return cleared;
  const auto* images = reinterpret_cast<const EntropyImage*>(memory);
  const auto* work =
      reinterpret_cast<const SegmentWork*>(memory + rounded_part(tasks_.size() * sizeof(EntropyImage)));
  const auto count = static_cast<std::uint32_t>(segments_);
  entropy_kernel<<<(count + kNaiveBlock - 1) / kNaiveBlock, kNaiveBlock, 0, launch.stream>>>(images, work,
                                                                                             count, damaged);
  return cudaGetLastError();
}

bool NaiveEntropyDecoding::is_intact(std::size_t image, const std::byte* results) const {
  std::uint32_t damaged = 1;
  std::memcpy(&damaged, results + image * sizeof(damaged), sizeof(damaged));
  return damaged == 0;
}

// Memory: the images, then their planes.
NaiveReconstruction::NaiveReconstruction(std::vector<ReconstructionTask> tasks)
    : NaiveGroup(std::move(tasks)) {
  memory_.upload_bytes = rounded_part(tasks_.size() * sizeof(ReconstructionImage));
  memory_.bytes = memory_.upload_bytes;
  for (const ReconstructionTask& task : tasks_) {
    const NaiveScan scan = naive_scan(*task.scan);
    max_blocks_ = std::max(max_blocks_, scan.blocks());
    max_pixels_ = std::max(max_pixels_, scan.width * scan.height);
    memory_.bytes += rounded_part(static_cast<std::size_t>(scan.samples));
  }
}

void NaiveReconstruction::write_upload(std::byte* to) const {
  std::size_t planes = memory_.upload_bytes;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const ReconstructionImage image{naive_scan(*tasks_[i].scan), tasks_[i].coefficients,
                                    static_cast<std::int64_t>(planes), tasks_[i].pixels};
    std::memcpy(to + i * sizeof(image), &image, sizeof(image));
    planes += rounded_part(static_cast<std::size_t>(image.scan.samples));
  }
}

CudaStatus NaiveReconstruction::launch(std::byte* memory, const CudaLaunch& launch) const {
  const auto* images = reinterpret_cast<const ReconstructionImage*>(memory);
  auto* bytes = reinterpret_cast<std::uint8_t*>(memory);
  block_kernel<<<grid_of(max_blocks_, tasks_.size()), kNaiveBlock, 0, launch.stream>>>(images, bytes);
  pixel_kernel<<<grid_of(max_pixels_, tasks_.size()), kNaiveBlock, 0, launch.stream>>>(images, bytes);
  return cudaGetLastError();
}

}  // namespace imgpipe
