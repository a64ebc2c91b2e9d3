// Huffman codes of baseline JPEGs to coefficients on a CUDA device, several images in the same launches.
//
// A decoder that begins anywhere falls into step with the true one by itself (Weissenberger, Schmidt:
// Massively parallel Huffman decoding on GPUs, ICPP 2018; for JPEG: arXiv 2111.09219).
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

// One image. What it points to on the host is needed until write_upload() has returned.
struct EntropyTask {
  const BaselineScan* scan = nullptr;
  const EntropyTables* tables = nullptr;
  const StagedScan* staged = nullptr;
  // Device: the staged bytes, on a 16-byte boundary; kStreamMargin bytes behind them can be read.
  const std::byte* stream = nullptr;
  // Device, on a 128-byte boundary: kBlockSamples values for each block of the scan, blocks in the order of
  // the scan, a block row by row (not zigzag), as decoded: not dequantised, DC as the sum of the differences,
  // wrapped to 16 bits. Every value is written.
  std::int16_t* coefficients = nullptr;
};
inline constexpr std::size_t kStreamMargin = 64;

class EntropyDecoding {
 public:
  explicit EntropyDecoding(std::vector<EntropyTask> tasks);

  [[nodiscard]] const GroupMemory& memory() const { return memory_; }
  // Fills memory().upload_bytes.
  void write_upload(std::byte* to) const;
  // `memory`: on the device, as memory() says, uploaded. Asynchronous. However damaged a stream is, it ends,
  // and touches nothing but what is its own.
  [[nodiscard]] CudaStatus launch(std::byte* memory, const CudaLaunch& launch) const;
  // Of memory().results_bytes that came down: whether everything in image i is in order, as the host's
  // decoder has it (scan_pieces.h): every code valid, exactly the blocks of the header in each segment, fewer
  // than 8 bits left behind them, DC sums within bounds. Else its coefficients mean nothing.
  [[nodiscard]] bool in_order(std::size_t image, const std::byte* results) const;

  // What kernels and tests see of it.
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
  std::vector<entropy::DeviceImage> images_;  // of the tasks that can be in order
  std::uint32_t segments_ = 0, subsequences_ = 0, tiles_ = 0, bridges_ = 0, tables_ = 0, most_tables_ = 0;
  Offsets offsets_;
  GroupMemory memory_;
};

}  // namespace imgpipe
