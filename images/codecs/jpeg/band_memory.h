// How much memory our own decoder of JPEG takes for a band of rows.
#pragma once

#include <cstdint>

#include "images/codecs/jpeg/jpeg_scan.h"

namespace imgpipe {

// The most bytes that decoding a band of so many rows holds. `mcu_row_bytes`: of the samples of a row of
// MCUs; `piece_bytes`: of a piece of the scan.
[[nodiscard]] std::int64_t most_band_bytes(const JpegScan& jpeg, std::int64_t mcu_row_bytes,
                                           std::int64_t piece_bytes, std::int64_t rows);

}  // namespace imgpipe
