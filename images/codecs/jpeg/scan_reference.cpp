#include "images/codecs/jpeg/scan_reference.h"

#include <cstdint>
#include <utility>

#include "images/codecs/jpeg/mcu_reference.h"

namespace imgpipe {
namespace {

class StuffedBits {
 public:
  void put(std::uint32_t value, int count) {
    for (int i = count - 1; i >= 0; --i) put_bit(value >> i & 1);
  }
  // Pads the last byte with ones (T.81, F.1.2.3).
  std::vector<std::byte> finish() {
    while (count_ != 0) put_bit(1);
    return std::move(bytes_);
  }

 private:
  void put_bit(std::uint32_t bit) {
    current_ = current_ << 1 | bit;
    if (++count_ < 8) return;
    bytes_.push_back(static_cast<std::byte>(current_));
    if (current_ == 0xFF) bytes_.push_back(std::byte{0});
    current_ = 0;
    count_ = 0;
  }

  std::vector<std::byte> bytes_;
  std::uint32_t current_ = 0;
  int count_ = 0;
};

}  // namespace

std::vector<std::byte> encode_scan_reference(ConstHostPlane pixels, int quality, bool subsampled_chroma) {
  const McuReference reference(pixels, quality, subsampled_chroma);
  StuffedBits bits;
  LastDc dc{};
  for (std::int32_t mcu = 0; mcu < reference.scan().mcus; ++mcu)
    code_mcu(reference.mcu(mcu), reference.scan().blocks_in_mcu, dc, bits);
  return bits.finish();
}

}  // namespace imgpipe
