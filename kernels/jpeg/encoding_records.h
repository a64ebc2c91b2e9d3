// The layout of a group's memory for the kernels of encoding.cu, and the joining of runs of blocks.
//
// An image's scan is cut into runs of kRunBlocks blocks, in whole MCUs:
//
//   pixels --> run 0: 10110..., bits 0 | run 1: 0111..., bits 1 | ...   each in a slot of its own
//          --> the concatenated bits of all slots, with a zero byte after each 0xFF
#pragma once

#include <cstddef>
#include <cstdint>

#include "images/codecs/jpeg/forward_scan.h"
#include "images/host_device.h"
#include "images/plane.h"

namespace imgpipe {

// One thread codes one block. MCUs have 1, 3 or 6 blocks: 192 blocks are whole MCUs, and each position in the
// MCU gets whole warps.
inline constexpr int kRunBlocks = 192;
// A thread's column of words holds, in turn, its block's samples (words 0 to 15), its coefficients (two per
// word in zigzag order, from word kLead on) and its bits (from word 0 on, overwriting coefficients already
// coded). Coding a coefficient frees 16 bits. Its code is longer than that only if it follows a non-zero
// coefficient and its magnitude exceeds 127, 255 or 511: by 2, 9 or 10 bits (T.81, table K.5; less with K.6).
// The squares of a block's coefficients sum to at most 64 * 128^2. So the excess is at most 148 bits, 4 of
// which are for DC: the bits never reach a coefficient that is still needed.
inline constexpr int kLead = 6;
inline constexpr int kColumnWords = kLead + kBlockSamples / 2;
// Stored as the number of a run's bits if they did not fit into its slot.
inline constexpr std::uint32_t kSlotOverflow = 0xFFFFFFFF;

struct JpegEncodingImage {
  const Sample8* pixels = nullptr;
  std::int64_t stride = 0;  // samples, as in Plane
  ForwardScan scan;
  std::int32_t mcus_in_run = 0;
  std::uint32_t first_run = 0, runs = 0;  // index in the group, count
  std::uint32_t slot_words = 0;           // of 32 bits, most significant bit first
  std::uint64_t slots = 0;                // byte offset of the first slot in the group's memory
  std::uint64_t out = 0, out_bytes = 0;   // offset of the scan and its capacity
  QuantizerStep steps[2][kBlockSamples];  // luma or grey, chroma; zigzag order
};

// Offsets in a group's memory, in bytes.
struct JpegEncodingGroup {
  std::uint32_t images = 0, runs = 0;
  std::uint64_t image = 0;        // JpegEncodingImage, by image
  std::uint64_t first_run = 0;    // std::uint32_t, by image
  std::uint64_t codes = 0;        // EncodingCodes: luma, chroma
  std::uint64_t run_bits = 0;     // std::uint32_t, by run: the bits in its slot, or kSlotOverflow
  std::uint64_t run_stuffed = 0;  // std::uint32_t, by run: number of stuffed zero bytes
  std::uint64_t run_first = 0;    // std::uint64_t, by run: its first bit in the image's scan
  std::uint64_t run_out = 0;      // std::uint64_t, by run: offset of its first byte in the image's scan
  std::uint64_t image_bits = 0;   // std::uint64_t, by image: all bits of its scan; 0: it did not fit
  std::uint64_t results = 0;      // std::uint64_t, by image: bytes of the scan; 0: it did not fit
};

// Returns the index of the last element that is at most `value`. The first element must not exceed `value`.
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

// The bits of a run, followed by the next run's first bits and then by 1 bits. The bytes that begin in a run
// need at most 7 bits after it: from the next run, which has more than 7, or from the final 1 bits.
struct RunBits {
  const std::uint32_t* words = nullptr;
  std::uint32_t bits = 0;
  std::uint32_t next = 0xFFFFFFFF;  // the first word of the next run, padded with ones

  IMGPIPE_HOST_DEVICE constexpr std::uint32_t word(std::uint32_t i) const {
    const std::uint32_t last = bits / 32;
    const std::uint32_t used = bits % 32;
    if (i < last) return words[i];
    if (i > last + 1) return 0xFFFFFFFF;
    if (used == 0) return i == last ? next : 0xFFFFFFFF;
    if (i > last) return next << (32 - used) | 0xFFFFFFFFU >> used;
    return (words[i] & ~(0xFFFFFFFFU >> used)) | next >> used;
  }
  // Returns 32 bits from bit `at` on, the first one most significant.
  IMGPIPE_HOST_DEVICE constexpr std::uint32_t from(std::uint32_t at) const {
    const std::uint32_t shift = at % 32;
    const std::uint32_t first = word(at / 32);
    return shift == 0 ? first : first << shift | word(at / 32 + 1) >> (32 - shift);
  }
};

// The bytes that begin in a run whose first bit is bit `first_bit` of the scan.
struct RunBytes {
  std::uint64_t first = 0;  // byte offset in the scan, without stuffing
  std::uint32_t count = 0;
  std::uint32_t skipped = 0;  // bits of the run before the first byte
};

IMGPIPE_HOST_DEVICE constexpr RunBytes bytes_of_run(std::uint64_t first_bit, std::uint32_t bits) {
  const std::uint64_t first = (first_bit + 7) / 8;
  const std::uint64_t end = (first_bit + bits + 7) / 8;
  return {first, static_cast<std::uint32_t>(end - first), static_cast<std::uint32_t>(8 * first - first_bit)};
}

// Returns a word with the highest bit set in each byte that is 0xFF.
IMGPIPE_HOST_DEVICE constexpr std::uint32_t mark_ff_bytes(std::uint32_t word) {
  return word & (((word & 0x7F7F7F7FU) + 0x01010101U) & 0x80808080U);
}
// Returns the marks of mark_ff_bytes() for the first `count` of four bytes, the most significant byte first.
IMGPIPE_HOST_DEVICE constexpr std::uint32_t leading_byte_marks(std::uint32_t count) {
  return count >= 4 ? 0x80808080U : 0x80808080U & ~(0xFFFFFFFFU >> (8 * count));
}

}  // namespace imgpipe
