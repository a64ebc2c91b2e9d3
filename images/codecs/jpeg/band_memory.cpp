#include "images/codecs/jpeg/band_memory.h"

#include <algorithm>

namespace imgpipe {
namespace {

// Returns an upper bound on the lists of blocks and coefficients of the whole scan, from its length in bits.
std::int64_t max_list_bytes(const JpegScan& jpeg) {
  const BaselineScan& scan = jpeg.scan;
  const auto bits = static_cast<std::int64_t>(scan.data.size()) * 8;
  const std::int64_t blocks = std::min(scan.mcus(), bits / jpeg.tables.min_mcu_bits + 1) * scan.blocks_in_mcu;
  return blocks * std::int64_t{sizeof(CoefficientBlock)} +
         bits / jpeg.tables.min_coefficient_bits * std::int64_t{sizeof(Coefficient)};
}

}  // namespace

std::int64_t max_band_bytes(const JpegScan& jpeg, std::int64_t mcu_row_bytes, std::int64_t scan_chunk_bytes,
                            std::int64_t rows) {
  const BaselineScan& scan = jpeg.scan;
  const std::int64_t mcu_rows = std::min(
      scan.mcu_rows, (rows + 2 * scan.interpolation_rows() + scan.mcu_height - 2) / scan.mcu_height + 1);
  const std::int64_t blocks = mcu_rows * scan.mcus_across * scan.blocks_in_mcu;
  const std::int64_t block_bytes =
      std::int64_t{sizeof(CoefficientBlock)} + kBlockSamples * std::int64_t{sizeof(Coefficient)};
  // A list's capacity may exceed its size by half.
  const std::int64_t coefficients = std::min(blocks * block_bytes, max_list_bytes(jpeg)) / 2 * 3;
  // The two chunks: one is being decoded, one is only partly needed.
  return mcu_rows * mcu_row_bytes + coefficients + 2 * scan_chunk_bytes;
}

}  // namespace imgpipe
