// What level 1 of the PNG writer makes of a strip: the format's rule. It follows from the strip's content
// alone, in integers, so that every thread, instruction set and device makes the same bytes.
//
// A strip is some 512 KB of filtered rows (png_writer.cpp). It becomes one block of deflate with a dynamic
// Huffman code and without matches but runs (RFC 1951, 3.2.7), or stored blocks, or what ISA-L makes of it.
//
// Tokens. A run is a longest stretch of bytes that each equal the byte before them; it never holds the
//   strip's first byte. Runs of 16 bytes and more are copies at distance 1: of 258 bytes while there are as
//   many, then of the rest, which are literals where they are fewer than 3. All else is literals.
// Codes. Of literals and lengths: huffman_lengths() of how often each occurs, the end of the block once;
//   at most 15 bits. Of distances: one code of one bit, for distance 1, whether there are copies or not.
//   The codes follow from their lengths (RFC 1951, 3.2.2).
// Header. HLIT ends with the last length that is not 0; HDIST is 0: one code. The lengths of both, in a row,
//   are cut into stretches of equal ones. Of zeros: symbol 18 for up to 138 while 11 or more are left, then
//   17 for 3 or more, then single ones. Of others: the first as it is, then symbol 16 for up to 6 while 3 or
//   more are left, then single ones. The code for these: huffman_lengths(), of 7 bits at most; HCLEN ends
//   with the last of its lengths that is not 0.
// End. The end's code; of the last strip, whose block is marked final, zeros up to a byte; of any other an
//   empty stored block (3 zeros, zeros up to a byte, 00 00 FF FF). So a strip ends on a byte, and refers to
//   nothing before it.
// Stored. Where stored blocks, of 65,535 bytes and a last one of the rest, take no more bytes.
// ISA-L. Where tries_matches() says so and ISA-L's level 1 makes fewer bytes of it than either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "images/codecs/png/strip_block.h"
#include "images/codecs/png/strip_repeats.h"
#include "images/host_device.h"

namespace imgpipe {

// Smaller strips are quickly tried; a Huffman code's description is much of them.
constexpr std::size_t kAlwaysTried = 32768;
// Where the block has one byte of so many it is runs and little else: of a constant strip ISA-L makes 1/170.
constexpr std::size_t kAllRuns = 256;

// What of a strip decides whether ISA-L is to try it.
enum class MatchRule { never, always, by_repeats };
[[nodiscard]] IMGPIPE_HOST_DEVICE constexpr MatchRule match_rule(std::uint64_t strip_bytes,
                                                                 std::uint64_t block_bytes) {
  if (strip_bytes < kAlwaysTried) return MatchRule::always;
  return block_bytes * kAllRuns <= strip_bytes ? MatchRule::never : MatchRule::by_repeats;
}
[[nodiscard]] IMGPIPE_HOST_DEVICE constexpr bool repeats_suffice(const StripRepeats& repeats,
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

// Whether ISA-L is to try a strip, `block_bytes` as a block that is not the last: a small one; never one of
// runs alone; else one of which enough windows repeat (strip_repeats.h), in either place: one of 4 where the
// block has less than 2 bits for a byte of the strip, of 12 below 3 bits, of 24 below 4, of 48 below 5, of
// 256 above.
//
// Measured on photographs, drawings, scans, screenshots and palettes: against one code a strip ISA-L loses
// 30 percent without matches at 1 bit a byte, 10 at 3, nothing at 6, and wins about as much as the share of
// windows that repeat. Of photographs hardly any do; of a screen's text nine in ten.
[[nodiscard]] bool tries_matches(std::span<const std::uint8_t> strip, const StripBlock& block);

}  // namespace imgpipe
