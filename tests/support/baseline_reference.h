// A decoder of one baseline scan that is written for readers, bit by bit and plane by plane. Tests compare
// the program's decoders with it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "images/codecs/jpeg/baseline_scan.h"
#include "images/image.h"

namespace imgpipe {

// The picture, grey or RGB, equal to libjpeg-turbo's to the bit (jpeg_arithmetic.h). Nothing where the data
// is not in perfect order (T.81, F.2): a code that stands for nothing or for what cannot be, a coefficient
// behind the 64th, data that ends early, a byte or more left over before a marker, a restart marker that is
// missing or not the next one, no EOI behind the last MCU. Throws Error(memory).
[[nodiscard]] std::optional<Image> decode_baseline_reference(const BaselineScan& scan);

// Its two halves. Coefficients: kBlockSamples for each block in the order of the scan, row by row, not
// dequantised.
[[nodiscard]] std::optional<std::vector<std::int16_t>> read_coefficients_reference(const BaselineScan& scan);
[[nodiscard]] Image reconstruct_reference(const BaselineScan& scan,
                                          std::span<const std::int16_t> coefficients);

}  // namespace imgpipe
