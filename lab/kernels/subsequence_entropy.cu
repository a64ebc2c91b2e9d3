#include <cstring>

#include <cuda_runtime.h>

#include "lab/kernels/jpeg_subsequences.h"
#include "lab/kernels/naive_groups.h"

namespace imgpipe {
namespace {

constexpr unsigned kThreads = 128;
constexpr unsigned kJoinThreads = 256;
// Few decoders need 3,000 bytes to synchronise.
constexpr int kRounds = 32;

struct SubsequenceImage {
  NaiveScan scan;
  const std::uint8_t* stream;
  std::int16_t* coefficients;
  std::uint32_t first, count;  // of the image's subsequences
};
struct Verdict {
  std::uint32_t damaged, ended_segments;
};

// The group's memory on the device.
struct Arrays {
  const SubsequenceImage* images;
  const NaiveSubsequence* subsequences;
  SymbolState* entries;
  SymbolState* exits[2];  // of the previous round, and of this one
  BlockTotals* sums;      // of each subsequence; after join_kernel(), of those before it
  Verdict* verdicts;
  std::uint32_t count;
};

std::size_t images_bytes(std::size_t images) {
  return rounded_part(images * sizeof(SubsequenceImage));
}

struct Offsets {
  Offsets(std::size_t images, std::size_t count) {
    subsequences = images_bytes(images);
    entries = subsequences + rounded_part(count * sizeof(NaiveSubsequence));
    exits = entries + rounded_part(count * sizeof(SymbolState));
    more_exits = exits + rounded_part(count * sizeof(SymbolState));
    sums = more_exits + rounded_part(count * sizeof(SymbolState));
    verdicts = sums + rounded_part(count * sizeof(BlockTotals));
    end = verdicts + images * sizeof(Verdict);
  }
  std::size_t subsequences, entries, exits, more_exits, sums, verdicts, end;
};

__global__ __launch_bounds__(kThreads) void guess_kernel(Arrays arrays) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= arrays.count) return;
  const NaiveSubsequence one = arrays.subsequences[i];
  const SubsequenceImage& image = arrays.images[one.image];
  SymbolState state;
  state.bit = one.first_bit;
  arrays.entries[i] = state;
  skim_subsequence(image.scan, image.stream, one, state, arrays.sums[i]);
  arrays.exits[0][i] = state;
}

__global__ __launch_bounds__(kThreads) void round_kernel(Arrays arrays) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= arrays.count) return;
  const NaiveSubsequence one = arrays.subsequences[i];
  SymbolState exit = arrays.exits[0][i];
  if (!one.starts_segment()) {
    SymbolState state = arrays.exits[0][i - 1];
    if (!(state == arrays.entries[i])) {
      const SubsequenceImage& image = arrays.images[one.image];
      arrays.entries[i] = state;
      skim_subsequence(image.scan, image.stream, one, state, arrays.sums[i]);
      exit = state;
    }
  }
  arrays.exits[1][i] = exit;
}

// One block per image. One thread decodes the subsequences that are still out of step; then the sums of each
// subsequence become the totals of the segment's earlier subsequences.
__global__ __launch_bounds__(kJoinThreads) void join_kernel(Arrays arrays) {
  const SubsequenceImage& image = arrays.images[blockIdx.x];
  const NaiveSubsequence* all = arrays.subsequences + image.first;
  SymbolState* entries = arrays.entries + image.first;
  SymbolState* exits = arrays.exits[0] + image.first;
  BlockTotals* sums = arrays.sums + image.first;
  const auto out_of_step = [&](std::uint32_t i) {
    return !all[i].starts_segment() && !(entries[i] == exits[i - 1]);
  };
  const std::uint32_t each = (image.count + kJoinThreads - 1) / kJoinThreads;
  const std::uint32_t first = threadIdx.x * each < image.count ? threadIdx.x * each : image.count;
  const std::uint32_t end = first + each < image.count ? first + each : image.count;
  bool any = false;
  for (std::uint32_t i = first; i < end; ++i) any = any || out_of_step(i);
  if (__syncthreads_or(any) && threadIdx.x == 0) {
    for (std::uint32_t i = 1; i < image.count; ++i) {
      if (!out_of_step(i)) continue;
      entries[i] = exits[i - 1];
      SymbolState state = entries[i];
      skim_subsequence(image.scan, image.stream, all[i], state, sums[i]);
      exits[i] = state;
    }
  }
  __shared__ BlockTotals parts[kJoinThreads];
  __syncthreads();
  BlockTotals mine;
  for (std::uint32_t i = first; i < end; ++i) mine.add(sums[i]);
  parts[threadIdx.x] = mine;
  __syncthreads();
  BlockTotals before;
  for (unsigned i = 0; i < threadIdx.x; ++i) before.add(parts[i]);
  for (std::uint32_t i = first; i < end; ++i) {
    const BlockTotals own = sums[i];
    sums[i] = own.starts ? BlockTotals() : before;
    before.add(own);
  }
}

__global__ __launch_bounds__(kThreads) void write_kernel(Arrays arrays) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= arrays.count) return;
  const NaiveSubsequence one = arrays.subsequences[i];
  const SubsequenceImage& image = arrays.images[one.image];
  bool ended = false;
  if (!write_subsequence(image.scan, image.stream, one, arrays.entries[i], arrays.sums[i], image.coefficients,
                         ended))
    atomicAdd(&arrays.verdicts[one.image].damaged, 1U);
  if (ended) atomicAdd(&arrays.verdicts[one.image].ended_segments, 1U);
}

std::size_t subsequences_of(const ScanSegment& segment) {
  constexpr std::size_t kBytes = kNaiveSubsequenceBits / 8;
  return segment.bytes == 0 ? 1 : (segment.bytes + kBytes - 1) / kBytes;
}

}  // namespace

SubsequenceEntropyDecoding::SubsequenceEntropyDecoding(std::vector<EntropyTask> tasks)
    : NaiveGroup(std::move(tasks)) {
  for (const EntropyTask& task : tasks_) {
    for (const ScanSegment& segment : task.staged->segments) subsequences_ += subsequences_of(segment);
  }
  const Offsets offsets(tasks_.size(), subsequences_);
  memory_.upload_bytes = offsets.entries;
  memory_.results_offset = offsets.verdicts;
  memory_.results_bytes = tasks_.size() * sizeof(Verdict);
  memory_.bytes = offsets.end;
}

void SubsequenceEntropyDecoding::write_upload(std::byte* to) const {
  std::memset(to, 0, memory_.upload_bytes);
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const EntropyTask& task = tasks_[i];
    SubsequenceImage image{naive_scan(*task.scan), reinterpret_cast<const std::uint8_t*>(task.stream),
                           task.coefficients, next, 0};
    std::uint32_t segment_index = 0;
    for (const ScanSegment& segment : task.staged->segments) {
      for (std::size_t k = 0; k < subsequences_of(segment); ++k, ++next) {
        const NaiveSubsequence one{segment, static_cast<std::uint32_t>(i), segment_index,
                                   static_cast<std::int64_t>(k) * kNaiveSubsequenceBits};
        std::memcpy(to + images_bytes(tasks_.size()) + next * sizeof(one), &one, sizeof(one));
      }
      ++segment_index;
    }
    image.count = next - image.first;
    std::memcpy(to + i * sizeof(image), &image, sizeof(image));
  }
}

CudaStatus SubsequenceEntropyDecoding::launch(std::byte* memory, const CudaLaunch& launch) const {
  const Offsets at(tasks_.size(), subsequences_);
  Arrays arrays{reinterpret_cast<const SubsequenceImage*>(memory),
                reinterpret_cast<const NaiveSubsequence*>(memory + at.subsequences),
                reinterpret_cast<SymbolState*>(memory + at.entries),
                {reinterpret_cast<SymbolState*>(memory + at.exits),
                 reinterpret_cast<SymbolState*>(memory + at.more_exits)},
                reinterpret_cast<BlockTotals*>(memory + at.sums),
                reinterpret_cast<Verdict*>(memory + at.verdicts),
                static_cast<std::uint32_t>(subsequences_)};
  const cudaError_t cleared = cudaMemsetAsync(arrays.verdicts, 0, memory_.results_bytes, launch.stream);
  if (cleared != cudaSuccess) return cleared;
  const unsigned blocks = (arrays.count + kThreads - 1) / kThreads;
  guess_kernel<<<blocks, kThreads, 0, launch.stream>>>(arrays);
  for (int round = 0; round < kRounds; ++round) {
    round_kernel<<<blocks, kThreads, 0, launch.stream>>>(arrays);
    std::swap(arrays.exits[0], arrays.exits[1]);
  }
  join_kernel<<<static_cast<unsigned>(tasks_.size()), kJoinThreads, 0, launch.stream>>>(arrays);
  write_kernel<<<blocks, kThreads, 0, launch.stream>>>(arrays);
  return cudaGetLastError();
}

bool SubsequenceEntropyDecoding::is_intact(std::size_t image, const std::byte* results) const {
  Verdict verdict{};
  std::memcpy(&verdict, results + image * sizeof(verdict), sizeof(verdict));
  return verdict.damaged == 0 && verdict.ended_segments == tasks_[image].staged->segments.size();
}

}  // namespace imgpipe
