#include <algorithm>
#include <cstring>

#include <cuda_runtime.h>

#include "lab/kernels/naive_groups.h"
#include "lab/kernels/png_naive.h"

namespace imgpipe {
namespace {

using naive_png::Packed;
using naive_png::Workspace;

constexpr unsigned kThreads = 32;

// The work of one thread; offsets are in the group's memory.
struct StripWork {
  Plane<const Sample8, Device> rows;
  std::uint64_t workspace, filtered, seen, out;
  std::uint32_t last;
};

__global__ void strip_kernel(const StripWork* strips, std::uint32_t count, std::uint8_t* memory,
                             Packed* results) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const StripWork& strip = strips[i];
  results[i] =
      naive_png::pack_strip(strip.rows, strip.last != 0, memory + strip.filtered,
                            *reinterpret_cast<Workspace*>(memory + strip.workspace),
                            reinterpret_cast<std::uint64_t*>(memory + strip.seen), memory + strip.out);
}

std::int64_t strips_of(const PngEncodingTask& task) {
  return (task.pixels.height + task.strip_rows - 1) / task.strip_rows;
}

// The memory layout of a strip.
struct Layout {
  explicit Layout(std::size_t filtered_bytes)
      : filtered(rounded_part(sizeof(Workspace))),
        seen(filtered + rounded_part(filtered_bytes)),
        out(seen + rounded_part(repeat_cells(filtered_bytes) * sizeof(std::uint64_t))),
        bytes(out + rounded_part(stored_bytes(filtered_bytes) + kPartBoundary)) {}
  std::size_t filtered, seen, out, bytes;
};

// Calls use(first row, rows, layout) for each strip of an image.
template <class Use>
void for_each_strip(const PngEncodingTask& task, const Use& use) {
  for (std::int64_t y = 0; y < task.pixels.height; y += task.strip_rows) {
    const std::int64_t rows = std::min(task.strip_rows, task.pixels.height - y);
    use(y, rows, Layout(static_cast<std::size_t>(rows * (task.pixels.row_samples() + 1))));
  }
}

}  // namespace

// Memory: each thread's work, the strips' data, the results.
NaivePngEncoding::NaivePngEncoding(std::vector<PngEncodingTask> tasks) : NaiveGroup(std::move(tasks)) {
  std::size_t bytes = 0;
  for (const PngEncodingTask& task : tasks_) {
    strips_ += static_cast<std::size_t>(strips_of(task));
    for_each_strip(task, [&](std::int64_t, std::int64_t, const Layout& layout) { bytes += layout.bytes; });
  }
  memory_.upload_bytes = rounded_part(strips_ * sizeof(StripWork));
  memory_.results_offset = memory_.upload_bytes + bytes;
  memory_.results_bytes = strips_ * sizeof(Packed);
  memory_.bytes = memory_.results_offset + memory_.results_bytes;
}

void NaivePngEncoding::write_upload(std::byte* to) const {
  std::memset(to, 0, memory_.upload_bytes);
  std::uint64_t at = memory_.upload_bytes;
  for (const PngEncodingTask& task : tasks_) {
    for_each_strip(task, [&](std::int64_t first, std::int64_t rows, const Layout& layout) {
      const StripWork strip{task.pixels.rows(first, rows),
                            at,
                            at + layout.filtered,
                            at + layout.seen,
                            at + layout.out,
                            first + rows == task.pixels.height ? 1U : 0U};
      std::memcpy(to, &strip, sizeof(strip));
      to += sizeof(strip);
      at += layout.bytes;
    });
  }
}

CudaStatus NaivePngEncoding::launch(std::byte* memory, const CudaLaunch& launch) const {
  const auto count = static_cast<std::uint32_t>(strips_);
  strip_kernel<<<(count + kThreads - 1) / kThreads, kThreads, 0, launch.stream>>>(
      reinterpret_cast<const StripWork*>(memory), count, reinterpret_cast<std::uint8_t*>(memory),
      reinterpret_cast<Packed*>(memory + memory_.results_offset));
  return cudaGetLastError();
}

std::vector<PngEncoding::Strip> NaivePngEncoding::strips(std::size_t image, const std::byte* results) const {
  std::vector<PngEncoding::Strip> strips;
  std::size_t at = memory_.upload_bytes;
  for (std::size_t i = 0; i <= image; ++i) {
    for_each_strip(tasks_[i], [&](std::int64_t, std::int64_t, const Layout& layout) {
      Packed packed;
      std::memcpy(&packed, results, sizeof(packed));
      results += sizeof(packed);
      if (i == image)
        strips.push_back({.offset = at + layout.out,
                          .bytes = static_cast<std::size_t>(packed.bytes),
                          .adler = packed.adler,
                          .filtered = packed.filtered != 0});
      at += layout.bytes;
    });
  }
  return strips;
}

}  // namespace imgpipe
