// Decodes the Huffman codes of baseline JPEGs to coefficients on a CUDA device, several images per launch.
//
// A decoder that begins at an arbitrary bit synchronises with the true one (Weissenberger, Schmidt: Massively
// parallel Huffman decoding on GPUs, ICPP 2018; for JPEG: arXiv 2111.09219).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "images/codecs/jpeg/baseline_scan.h"
#include "images/codecs/jpeg/entropy_decoder.h"
#include "images/codecs/jpeg/staged_scan.h"
#include "kernels/cuda_launch.h"
#include "kernels/group_memory.h"
#include "kernels/jpeg/entropy_layout.h"

namespace imgpipe {

// One image. Its host data must stay valid until write_upload() returns.
struct EntropyTask {
  const BaselineScan* scan = nullptr;
  const EntropyTables* tables = nullptr;
  const StagedScan* staged = nullptr;
  // Device: the staged bytes, on a 16-byte boundary, with kStreamMargin readable bytes after them.
  const std::byte* stream = nullptr;
  // Device, on a 128-byte boundary: all kBlockSamples values of each block, blocks in scan order, values in
  // row order (not zigzag), not dequantised. DC is the sum of the differences, wrapped to 16 bits.
  std::int16_t* coefficients = nullptr;
};
inline constexpr std::size_t kStreamMargin = 64;

class EntropyDecoding {
 public:
  explicit EntropyDecoding(std::vector<EntropyTask> tasks);

  [[nodiscard]] const GroupMemory& memory() const { return memory_; }
  // Fills memory().upload_bytes.
  void write_upload(std::byte* to) const;
  // Asynchronous. `memory`: device memory as memory() requires, with the upload in place. Damaged streams
  // terminate too, and never write outside the group's memory and coefficients.
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;
  // Whether image i is intact by the host decoder's rules (scan_chunks.h), given the downloaded
  // memory().results_bytes: all codes valid, exactly the header's blocks in each segment, fewer than 8 bits
  // after them, DC sums within bounds. Otherwise its coefficients are undefined.
  [[nodiscard]] bool is_intact(std::size_t image, const std::byte* results) const;

  // The arrays that kernels and tests use.
  [[nodiscard]] entropy::GroupView view(std::byte* memory) const;

 private:
  struct Offsets {
    std::size_t images = 0, tile_ends = 0, bridge_ends = 0, codes = 0, segments = 0;
    std::size_t tables = 0, records = 0, sums = 0, tile_exits = 0, tile_sums = 0, tile_bases = 0;
  };
  void add_image(std::size_t task);
  void lay_out();
  void write_segments(const entropy::DeviceImage& image, entropy::DeviceSegment* to) const;

  std::vector<EntropyTask> tasks_;
  std::vector<entropy::DeviceImage> images_;  // of the tasks with a plausible scan
  std::uint32_t segments_ = 0, subsequences_ = 0, tiles_ = 0, bridges_ = 0, tables_ = 0, max_tables_ = 0;
  Offsets offsets_;
  GroupMemory memory_;
};

}  // namespace imgpipe
