// The tables of ITU-T T.81, annex K, as an encoder needs them: quantisers (K.1, K.2) scaled by a quality as
// libjpeg does it, Huffman codes (K.3 to K.6).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "images/codecs/jpeg/baseline_scan.h"
#include "images/host_device.h"

namespace imgpipe {

// ---- quantisers ----------------------------------------------------------------------------------------

// In zigzag order.
using QuantizerSteps = std::array<std::uint8_t, kBlockSamples>;

// Of 1..100, for luma or the colour differences: steps of 1..255, which baseline files hold.
[[nodiscard]] QuantizerSteps quantizer_steps(int quality, bool chroma);

// ---- codes -----------------------------------------------------------------------------------------------

// A Huffman code and room behind it for the bits of a value (T.81, F.1.2): bits 0 to 4 say how many bits both
// have, 26 at the most; above stand the code and zeros for the value.
using CodeAndRoom = std::uint32_t;
inline constexpr int kCountBits = 5;
inline constexpr std::uint32_t kCountMask = (1U << kCountBits) - 1;

// Of a plane: [run * 16 + size] for AC coefficients, [kDcCodes + size] for DC differences.
inline constexpr int kEobCode = 0;     // the end of a block
inline constexpr int kZrlCode = 0xF0;  // 16 zeros
inline constexpr int kDcCodes = 256;
using EncodingCodes = std::array<CodeAndRoom, kDcCodes + 16>;

[[nodiscard]] const HuffmanCodes& standard_codes(bool chroma, bool dc);
[[nodiscard]] const EncodingCodes& encoding_codes(bool chroma);

}  // namespace imgpipe
