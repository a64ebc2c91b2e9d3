// One MCU of a baseline scan, by the reference arithmetic.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "images/codecs/jpeg/forward_scan.h"
#include "images/plane.h"

namespace imgpipe {

// The coefficients of an MCU's blocks, as coded, in zigzag order. The DC coefficient is not a difference.
struct CodedMcu {
  std::array<std::array<std::int32_t, kBlockSamples>, 6> values{};
  std::array<std::uint64_t, 6> positions{};  // of AC coefficients that are not 0: zigzag_index_bit()
};

// The last DC coefficient of each component.
using LastDc = std::array<std::int32_t, 3>;

class McuReference {
 public:
  // The pixels of a scan, as for encode_scan_reference(). They must outlive this.
  McuReference(ConstHostPlane pixels, int quality, bool subsampled_chroma)
      : pixels_(pixels),
        subsampled_chroma_(subsampled_chroma),
        scan_(forward_scan(pixels.width, pixels.height, pixels.channels, subsampled_chroma)),
        steps_{quantizer_steps(quality, false), quantizer_steps(quality, true)} {}

  [[nodiscard]] const ForwardScan& scan() const { return scan_; }
  [[nodiscard]] CodedMcu mcu(std::int32_t number) const;

 private:
  ConstHostPlane pixels_;
  bool subsampled_chroma_;
  ForwardScan scan_;
  std::array<QuantizerSteps, 2> steps_;
};

// Passes the codes of an MCU to `bits.put(value, count)`, after blocks that ended with `dc`, which it
// updates.
template <class Bits>
void code_mcu(const CodedMcu& mcu, std::int32_t blocks_in_mcu, LastDc& dc, Bits& bits) {
  for (std::int32_t block = 0; block < blocks_in_mcu; ++block) {
    const auto i = static_cast<std::size_t>(block);
    const auto component = static_cast<std::size_t>(component_of(blocks_in_mcu, block));
    const std::int32_t before = std::exchange(dc[component], value_of_coded(mcu.values[i][0]));
    code_block(
        dc[component] - before, mcu.positions[i],
        [&](int at) { return mcu.values[i][static_cast<std::size_t>(at)]; },
        encoding_codes(component > 0).data(), bits);
  }
}

}  // namespace imgpipe
