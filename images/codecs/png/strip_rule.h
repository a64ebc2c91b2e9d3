// The rule by which level 1 of the PNG writer compresses a strip. The result depends on the strip's content
// alone, in integers, so every thread, instruction set and device makes the same bytes.
//
// A strip is about 512 KB of filtered rows (png_writer.cpp). It becomes one deflate block with a dynamic
// Huffman code (RFC 1951, 3.2.7) whose only matches are runs, or stored blocks, or ISA-L's output.
//
// Tokens. A run is a longest stretch of bytes that each equal the byte before them; it never includes the
//   strip's first byte. A run of 16 bytes or more becomes copies at distance 1: of 258 bytes while that many
//   are left, then of the rest, or literals if the rest is below 3. All other bytes are literals.
// Codes. For literals and lengths: huffman_lengths() of their counts, plus one end of block; at most 15 bits.
//   For distances: one code of one bit, even without copies. Codes follow from lengths (RFC 1951, 3.2.2).
// Header. HLIT ends with the last non-zero length. HDIST is 0: one code. The sequence of all lengths is split
//   into stretches of equal ones. Zeros: symbol 18 for up to 138 while 11 or more are left, then symbol 17
//   for 3 or more, then single ones. Others: the first as its own symbol, then symbol 16 for up to 6 while 3
//   or more are left, then single ones. Their codes: huffman_lengths(), at most 7 bits, up to the last
//   non-zero one.
// End. The code for the end of block. The last strip's block is marked final and padded with zeros to a byte.
//   Others get an empty stored block (3 zeros, zeros up to a byte, 00 00 FF FF). Thus every strip ends on a
//   byte boundary and refers to nothing before it.
// Stored. Used if stored blocks (65,535 bytes each; the last one has the rest) take no more bytes.
// ISA-L. Used if should_try_matches() allows it and ISA-L's level 1 makes fewer bytes than either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "images/codecs/png/strip_block.h"
#include "images/codecs/png/strip_repeats.h"
#include "images/host_device.h"

namespace imgpipe {

// Smaller strips are quick to try, and a Huffman code's description is a large part of them.
constexpr std::size_t kAlwaysTryBelowBytes = 32768;
// A block below this fraction is almost only runs: ISA-L shrinks a constant strip to 1/170.
constexpr std::size_t kOnlyRunsRatio = 256;

// How to decide whether ISA-L tries a strip: by the strip's sizes alone (never, always), or by its repeats.
enum class MatchRule { never, always, by_repeats };
[[nodiscard]] IMGPIPE_HOST_DEVICE constexpr MatchRule match_rule(std::uint64_t strip_bytes,
                                                                 std::uint64_t block_bytes) {
  if (strip_bytes < kAlwaysTryBelowBytes) return MatchRule::always;
  return block_bytes * kOnlyRunsRatio <= strip_bytes ? MatchRule::never : MatchRule::by_repeats;
}
[[nodiscard]] IMGPIPE_HOST_DEVICE constexpr bool has_enough_repeats(const StripRepeats& repeats,
                                                                    std::uint64_t strip_bytes,
                                                                    std::uint64_t block_bytes) {
  const std::uint64_t bits_a_byte = 8 * block_bytes / strip_bytes;
  const std::uint64_t one_of = bits_a_byte < 2    ? 4
                               : bits_a_byte == 2 ? 12
                               : bits_a_byte == 3 ? 24
                               : bits_a_byte == 4 ? 48
                                                  : 256;
  return repeats.repeated != 0 && repeats.repeated * one_of >= repeats.windows;
}

// Returns whether ISA-L tries a strip: always if it is small, never if it is only runs, otherwise if enough
// windows repeat (strip_repeats.h) at either position. The required share depends on the size of `block`, as
// one that is not the last, in bits per byte of the strip: 1/4 below 2 bits, 1/12 below 3, 1/24 below 4, 1/48
// below 5, otherwise 1/256.
//
// Measured on photographs, drawings, scans, screenshots and palettes: without matches, ISA-L compresses worse
// than one code per strip, by 30 percent at 1 bit per byte, 10 percent at 3, and not at all at 6. Matches
// save about the share of windows that repeat: almost none in photographs, nine in ten in a screen's text.
[[nodiscard]] bool should_try_matches(std::span<const std::uint8_t> strip, const StripBlock& block);

}  // namespace imgpipe
