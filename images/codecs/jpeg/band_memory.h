// Memory that the built-in JPEG decoder needs for a band of rows.
#pragma once

#include <cstdint>

#include "images/codecs/jpeg/jpeg_scan.h"

namespace imgpipe {

// Returns the maximum memory held while decoding `rows` rows, given the memory of one MCU row and one chunk.
[[nodiscard]] std::int64_t max_band_bytes(const JpegScan& jpeg, std::int64_t mcu_row_bytes,
                                          std::int64_t scan_chunk_bytes, std::int64_t rows);

}  // namespace imgpipe
