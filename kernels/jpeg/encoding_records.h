// What the kernels of encoding.cu find in a group's memory, and how runs of blocks are joined.
//
// An image's scan is cut into runs of kRunBlocks blocks, in whole MCUs:
//
//   pixels --> run 0: 10110..., bits 0 | run 1: 0111..., bits 1 | ...   each in a slot of its own
//          --> the slots' bits one behind the other, a zero byte behind each 0xFF
#pragma once

#include <cstddef>
#include <cstdint>

#include "images/codecs/jpeg/forward_scan.h"
#include "images/host_device.h"
#include "images/plane.h"

namespace imgpipe {

// A thread codes a block. 192 is a whole number of MCUs of 1, 3 and 6 blocks, and so many warps of each
// place in them.
inline constexpr int kRunBlocks = 192;
// A thread's words. In them lie, one after the other: its block's samples (words 0 to 15), its coefficients,
// two a word in zigzag order, from word kLead on, and its bits, from word 0 on, over coefficients that are
// coded already. A coefficient leaves 16 bits of room and takes more only where it follows one that is not
// zero and is above 127, 255 or 511: 2, 9 or 10 bits (K.5; K.6 has fewer). The squares of a block's
// coefficients add up to no more than 64 * 128^2, so that is no more than 148 bits in all, with 4 of the DC
// coefficient: the bits never reach a coefficient that is needed.
inline constexpr int kLead = 6;
inline constexpr int kColumnWords = kLead + kBlockSamples / 2;
// In place of a run's bits: they did not fit into its slot.
inline constexpr std::uint32_t kNoRoom = 0xFFFFFFFF;

struct JpegEncodingImage {
  const Sample8* pixels = nullptr;
  std::int64_t stride = 0;  // samples, as ConstDevicePlane
  ForwardScan scan;
  std::int32_t mcus_in_run = 0;
  std::uint32_t first_run = 0, runs = 0;  // of the group's
  std::uint32_t slot_words = 0;           // of 32 bits, the first bit highest
  std::uint64_t slots = 0;                // where they begin in the group's memory, in bytes
  std::uint64_t out = 0, out_bytes = 0;   // where the scan goes, and its room
  QuantizerStep steps[2][kBlockSamples];  // luma or grey, colour differences; in zigzag order
};

// Offsets in a group's memory, in bytes.
struct JpegEncodingGroup {
  std::uint32_t images = 0, runs = 0;
  std::uint64_t image = 0;        // JpegEncodingImage, by image
  std::uint64_t first_run = 0;    // std::uint32_t, by image
  std::uint64_t codes = 0;        // EncodingCodes: luma, colour differences
  std::uint64_t run_bits = 0;     // std::uint32_t, by run: the bits in its slot, or kNoRoom
  std::uint64_t run_stuffed = 0;  // std::uint32_t, by run: zero bytes to be stuffed
  std::uint64_t run_first = 0;    // std::uint64_t, by run: its first bit in the image's scan
  std::uint64_t run_out = 0;      // std::uint64_t, by run: where its first byte goes, in the image's scan
  std::uint64_t image_bits = 0;   // std::uint64_t, by image: all bits of its scan; 0: there was no room
  std::uint64_t results = 0;      // std::uint64_t, by image: the scan's bytes; 0: there was no room
};

// The place of the last element that is at most `value`; the first is.
template <class T>
IMGPIPE_HOST_DEVICE constexpr std::uint32_t last_at_most(const T* sorted, std::uint32_t count, T value) {
  std::uint32_t first = 0;
  while (count > 1) {
    const std::uint32_t half = count / 2;
    if (sorted[first + half] <= value) first += half;
    count -= half;
  }
  return first;
}

// ---- joining ----------------------------------------------------------------------------------------------

// The bits of a run that is not too long, the next run's first ones behind them, then ones without end. A
// run's own bytes of the scan are those that begin in it; they need 7 bits of the next run at most, which has
// more, or is the last one.
struct RunBits {
  const std::uint32_t* words = nullptr;
  std::uint32_t bits = 0;
  std::uint32_t next = 0xFFFFFFFF;  // the first word of the next run, filled up with ones

  IMGPIPE_HOST_DEVICE constexpr std::uint32_t word(std::uint32_t i) const {
    const std::uint32_t last = bits / 32;
    const std::uint32_t used = bits % 32;
    if (i < last) return words[i];
    if (i > last + 1) return 0xFFFFFFFF;
    if (used == 0) return i == last ? next : 0xFFFFFFFF;
    if (i > last) return next << (32 - used) | 0xFFFFFFFFU >> used;
    return (words[i] & ~(0xFFFFFFFFU >> used)) | next >> used;
  }
  // 32 bits from bit `at` on, the first one highest.
  IMGPIPE_HOST_DEVICE constexpr std::uint32_t from(std::uint32_t at) const {
    const std::uint32_t shift = at % 32;
    const std::uint32_t first = word(at / 32);
    return shift == 0 ? first : first << shift | word(at / 32 + 1) >> (32 - shift);
  }
};

// The bytes that begin in a run of so many bits of which the first is bit `first` of the scan.
struct RunBytes {
  std::uint64_t first = 0;  // byte of the scan, without stuffing
  std::uint32_t count = 0;
  std::uint32_t skipped = 0;  // bits of the run before them
};

IMGPIPE_HOST_DEVICE constexpr RunBytes bytes_of_run(std::uint64_t first_bit, std::uint32_t bits) {
  const std::uint64_t first = (first_bit + 7) / 8;
  const std::uint64_t end = (first_bit + bits + 7) / 8;
  return {first, static_cast<std::uint32_t>(end - first), static_cast<std::uint32_t>(8 * first - first_bit)};
}

// A one in the highest bit of each byte that is 0xFF.
IMGPIPE_HOST_DEVICE constexpr std::uint32_t full_bytes(std::uint32_t word) {
  return word & (((word & 0x7F7F7F7FU) + 0x01010101U) & 0x80808080U);
}
// Of four bytes the first `count`, as full_bytes() marks them; the first one highest.
IMGPIPE_HOST_DEVICE constexpr std::uint32_t first_marks(std::uint32_t count) {
  return count >= 4 ? 0x80808080U : 0x80808080U & ~(0xFFFFFFFFU >> (8 * count));
}

}  // namespace imgpipe
