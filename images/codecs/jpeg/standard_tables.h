// Tables of ITU-T T.81, annex K: quantisation (K.1, K.2), scaled by quality as in libjpeg; codes (K.3 to
// K.6).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "images/codecs/jpeg/baseline_scan.h"
#include "images/host_device.h"

namespace imgpipe {

// ---- quantisation tables -------------------------------------------------------------------------------

// In zigzag order.
using QuantizerSteps = std::array<std::uint8_t, kBlockSamples>;

// Returns the steps for quality 1..100, for luma or chroma: 1..255, which baseline files can hold.
[[nodiscard]] QuantizerSteps quantizer_steps(int quality, bool chroma);

// ---- codes -----------------------------------------------------------------------------------------------

// A Huffman code, then zeros for a value's bits (T.81, F.1.2). Bits 0 to 4: the length of both, at most 26.
using PaddedCode = std::uint32_t;
inline constexpr int kCountBits = 5;
inline constexpr std::uint32_t kCountMask = (1U << kCountBits) - 1;

// The codes of a plane: [run * 16 + size] for AC coefficients, [kDcCodes + size] for DC differences.
inline constexpr int kEobCode = 0;     // end of block
inline constexpr int kZrlCode = 0xF0;  // 16 zeros
inline constexpr int kDcCodes = 256;
using EncodingCodes = std::array<PaddedCode, kDcCodes + 16>;

[[nodiscard]] const HuffmanCodes& standard_codes(bool chroma, bool dc);
[[nodiscard]] const EncodingCodes& encoding_codes(bool chroma);

}  // namespace imgpipe
