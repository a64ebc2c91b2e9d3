// A decoder of one baseline scan, written for readability, with which tests compare the program's decoders.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "images/codecs/jpeg/baseline_scan.h"
#include "images/image.h"

namespace imgpipe {

// Returns the image, grey or RGB, bit for bit equal to libjpeg-turbo's (jpeg_arithmetic.h). Throws
// Error(memory). Returns nothing unless the data is completely valid (T.81, F.2): no invalid code, no more
// than 64 coefficients, no missing or extra bytes, the right restart markers, and EOI after the last MCU.
[[nodiscard]] std::optional<Image> decode_baseline_reference(const BaselineScan& scan);

// The decoder's halves. Coefficients: kBlockSamples per block, in scan order, by rows, not dequantised.
[[nodiscard]] std::optional<std::vector<std::int16_t>> read_coefficients_reference(const BaselineScan& scan);
[[nodiscard]] Image reconstruct_reference(const BaselineScan& scan,
                                          std::span<const std::int16_t> coefficients);

}  // namespace imgpipe
