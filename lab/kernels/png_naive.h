// A first attempt at packing a strip of a PNG, for one thread on any device: rows byte by byte, codes bit by
// bit. images/codecs/png/strip_rule.h specifies the result.
#pragma once

#include <cstddef>
#include <cstdint>

#include "images/codecs/png/huffman_code.h"
#include "images/codecs/png/huffman_tree.h"
#include "images/codecs/png/strip_block.h"
#include "images/codecs/png/strip_rule.h"
#include "images/host_device.h"
#include "images/plane.h"

namespace imgpipe::naive_png {

// Working memory for a strip.
struct Workspace {
  std::uint32_t counts[kMaxHuffmanSymbols];
  std::uint8_t lengths[kMaxHuffmanSymbols + 1];  // the distance code's length follows the last nonzero one
  std::uint16_t codes[kMaxHuffmanSymbols];
  std::uint8_t coded_lengths[kLengthCodes];
  std::uint16_t coded_codes[kLengthCodes];
  std::uint64_t order[kMaxHuffmanSymbols];  // sort keys in huffman(): count, then symbol
  std::uint64_t weights[kMaxHuffmanSymbols], joined[kMaxHuffmanSymbols];
  std::uint16_t parent[2 * kMaxHuffmanSymbols], depth[2 * kMaxHuffmanSymbols];
};

// ---- filters -----------------------------------------------------------------------------------------

IMGPIPE_HOST_DEVICE inline int paeth(int a, int b, int c) {
  const int p = a + b - c;
  const int to_a = p < a ? a - p : p - a;
  const int to_b = p < b ? b - p : p - b;
  const int to_c = p < c ? c - p : p - c;
  if (to_a <= to_b && to_a <= to_c) return a;
  return to_b <= to_c ? b : c;
}

// Returns a row's filtered byte at `at`; `above` is nullptr for the first row.
IMGPIPE_HOST_DEVICE inline std::uint8_t residual(int filter, const Sample8* row, const Sample8* above,
                                                 std::int64_t at, int pixel_bytes) {
  const int a = at < pixel_bytes ? 0 : row[at - pixel_bytes];
  const int b = above == nullptr ? 0 : above[at];
  const int c = above == nullptr || at < pixel_bytes ? 0 : above[at - pixel_bytes];
  const int predicted = filter == 0   ? 0
                        : filter == 1 ? a
                        : filter == 2 ? b
                        : filter == 3 ? (a + b) / 2
                                      : paeth(a, b, c);
  return static_cast<std::uint8_t>(row[at] - predicted);
}

// Writes a row's filter type and its filtered bytes.
IMGPIPE_HOST_DEVICE inline void filter_row(const Sample8* row, const Sample8* above, std::int64_t bytes,
                                           int pixel_bytes, std::uint8_t* out) {
  int best = 0;
  std::uint64_t least = ~std::uint64_t{0};
  for (int filter = 0; filter < (above == nullptr ? 2 : 5); ++filter) {
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < bytes; ++i) {
      const int value = residual(filter, row, above, i, pixel_bytes);
      sum += static_cast<std::uint64_t>(value < 128 ? value : 256 - value);
    }
    if (sum < least) {
      least = sum;
      best = filter;
    }
  }
  *out++ = static_cast<std::uint8_t>(best);
  for (std::int64_t i = 0; i < bytes; ++i) out[i] = residual(best, row, above, i, pixel_bytes);
}

IMGPIPE_HOST_DEVICE inline std::uint32_t adler(const std::uint8_t* bytes, std::int64_t count) {
  std::uint32_t low = 1;
  std::uint32_t high = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    low = (low + bytes[i]) % 65521;
    high = (high + low) % 65521;
  }
  return high << 16 | low;
}

// ---- tokens ------------------------------------------------------------------------------------------

// Calls literal(byte) and copy(length) in order.
template <class Literal, class Copy>
IMGPIPE_HOST_DEVICE inline void for_each_token(const std::uint8_t* strip, std::int64_t count,
                                               const Literal& literal, const Copy& copy) {
  for (std::int64_t i = 0; i < count;) {
    std::int64_t run = 0;
    if (i > 0) {
      while (i + run < count && strip[i + run] == strip[i - 1]) ++run;
    }
    if (run < static_cast<std::int64_t>(kMinRun)) {
      // Emits a short run as literals, all at once: no run of kMinRun bytes begins inside it.
      for (std::int64_t end = i + (run > 0 ? run : 1); i < end; ++i) literal(strip[i]);
      continue;
    }
    for (; run >= static_cast<std::int64_t>(kMaxCopy); run -= kMaxCopy, i += kMaxCopy) copy(kMaxCopy);
    if (run >= static_cast<std::int64_t>(kMinCopy)) {
      copy(static_cast<std::size_t>(run));
      i += run;
      run = 0;
    }
    for (; run > 0; --run, ++i) literal(strip[i]);
  }
}

// ---- codes -------------------------------------------------------------------------------------------

// Equivalent to huffman_lengths() and huffman_codes().
IMGPIPE_HOST_DEVICE inline void huffman(const std::uint32_t* counts, unsigned symbols, unsigned max_bits,
                                        Workspace& work, std::uint8_t* lengths, std::uint16_t* codes) {
  unsigned leaves = 0;
  for (unsigned symbol = 0; symbol < symbols; ++symbol) {
    lengths[symbol] = 0;
    codes[symbol] = 0;
    if (counts[symbol] == 0) continue;
    const std::uint64_t key = std::uint64_t{counts[symbol]} << 16 | symbol;
    unsigned at = leaves++;
    for (; at > 0 && work.order[at - 1] > key; --at) work.order[at] = work.order[at - 1];
    work.order[at] = key;
  }
  if (leaves == 1) lengths[work.order[0] & 0xFFFF] = 1;
  if (leaves > 1) {
    for (unsigned i = 0; i < leaves; ++i) work.weights[i] = work.order[i] >> 16;
    join_nodes(work.weights, leaves, work.joined, work.parent);
    std::uint32_t at_depth[kMaxCodeBits + 1] = {};
    const unsigned root = 2 * leaves - 2;
    work.depth[root] = 0;
    for (unsigned node = root; node-- > 0;) {
      const unsigned depth = work.depth[work.parent[node]] + 1U;
      work.depth[node] = static_cast<std::uint16_t>(depth);
      if (node < leaves) ++at_depth[depth < max_bits ? depth : max_bits];
    }
    mend_over_full(at_depth, max_bits);
    unsigned leaf = 0;
    for (unsigned bits = max_bits; bits > 0; --bits) {
      for (std::uint32_t i = 0; i < at_depth[bits]; ++i)
        lengths[work.order[leaf++] & 0xFFFF] = static_cast<std::uint8_t>(bits);
    }
  }
  std::uint32_t code = 0;
  for (unsigned bits = 1; bits <= max_bits; ++bits, code <<= 1) {
    for (unsigned symbol = 0; symbol < symbols; ++symbol) {
      if (lengths[symbol] != bits) continue;
      std::uint32_t turned = 0;
      for (unsigned i = 0; i < bits; ++i) turned |= (code >> i & 1) << (bits - 1 - i);
      codes[symbol] = static_cast<std::uint16_t>(turned);
      ++code;
    }
  }
}

class BitWriter {
 public:
  IMGPIPE_HOST_DEVICE explicit BitWriter(std::uint8_t* out) : out_(out) {}
  IMGPIPE_HOST_DEVICE void put(std::uint32_t value, unsigned bits) {
    for (unsigned i = 0; i < bits; ++i) {
      held_ |= (value >> i & 1) << count_;
      if (++count_ == 8) flush();
    }
  }
  // Pads with zeros to a byte.
  IMGPIPE_HOST_DEVICE void fill_byte() {
    if (count_ > 0) flush();
  }

 private:
  IMGPIPE_HOST_DEVICE void flush() {
    *out_++ = static_cast<std::uint8_t>(held_);
    held_ = 0;
    count_ = 0;
  }
  std::uint8_t* out_;
  std::uint32_t held_ = 0;
  unsigned count_ = 0;
};

// ---- repeats -----------------------------------------------------------------------------------------

// Equivalent to find_repeats(). `seen` has space for repeat_cells() numbers.
IMGPIPE_HOST_DEVICE inline StripRepeats repeats(const std::uint8_t* strip, std::size_t count,
                                                const std::uint8_t* lengths, WindowPosition position,
                                                std::uint64_t* seen) {
  StripRepeats found;
  for (std::size_t cell = 0; cell < repeat_cells(count); ++cell) {
    const std::uint8_t* from = strip + cell * kCellStep;
    if (position == WindowPosition::min_key) {
      std::uint32_t least = ~std::uint32_t{0};
      for (std::uint32_t p = 0; p < kRepeatCell; ++p) {
        std::uint32_t word = 0;
        for (unsigned i = 0; i < 4; ++i) word |= std::uint32_t{from[p + i]} << (8 * i);
        const std::uint32_t key = (~(word * kKeyMultiplier) & ~std::uint32_t{kRepeatCell - 1}) | p;
        if (key < least) least = key;
      }
      from += least & (kRepeatCell - 1);
    }
    unsigned bits = 0;
    std::size_t bytes = 0;
    bool is_run = true;
    for (; bytes < kMaxWindowBytes && bits < kWindowBits; ++bytes) {
      bits += lengths[from[bytes]];
      is_run = is_run && from[bytes] == *from;
    }
    if (bits < kWindowBits || is_run) continue;
    std::uint64_t hash = bytes;
    for (std::size_t word = 0; word < kMaxWindowBytes / 8; ++word) {
      std::uint64_t value = 0;
      for (std::size_t i = 0; i < 8; ++i)
        value |= word * 8 + i < bytes ? std::uint64_t{from[word * 8 + i]} << (8 * i) : 0;
      hash = hash_step(hash, value);
    }
    bool repeated = false;
    for (std::uint32_t i = 0; i < found.windows && hash != 0; ++i) repeated = repeated || seen[i] == hash;
    seen[found.windows++] = hash;
    found.repeated += repeated ? 1 : 0;
  }
  return found;
}

// ---- a strip -----------------------------------------------------------------------------------------

struct Packed {
  std::uint64_t bytes = 0;
  std::uint32_t adler = 1;
  std::uint32_t filtered = 0;  // 1: the bytes are the filtered rows, on which the host tries ISA-L
};

IMGPIPE_HOST_DEVICE inline void put_stored(const std::uint8_t* strip, std::size_t count, bool last,
                                           std::uint8_t* out) {
  for (std::size_t at = 0;;) {
    const std::size_t bytes = count - at < kMaxStoredBytes ? count - at : kMaxStoredBytes;
    *out++ = last && at + bytes == count ? 1 : 0;
    for (const std::size_t number : {bytes, ~bytes}) {
      *out++ = static_cast<std::uint8_t>(number);
      *out++ = static_cast<std::uint8_t>(number >> 8);
    }
    for (std::size_t i = 0; i < bytes; ++i) *out++ = strip[at + i];
    at += bytes;
    if (at == count) return;
  }
}

// Packs a strip. `filtered` has the capacity of its filtered rows; `out` has stored_bytes() of that size,
// plus a margin.
template <class Where>
IMGPIPE_HOST_DEVICE inline Packed pack_strip(const Plane<const Sample8, Where>& rows, bool last,
                                             std::uint8_t* filtered, Workspace& work, std::uint64_t* seen,
                                             std::uint8_t* out) {
  const std::int64_t row_bytes = rows.row_samples();
  for (std::int64_t y = 0; y < rows.height; ++y)
    filter_row(rows.row(y), y == 0 ? nullptr : rows.row(y - 1), row_bytes, rows.channels,
               filtered + y * (row_bytes + 1));
  const std::int64_t count = rows.height * (row_bytes + 1);
  Packed packed;
  packed.adler = adler(filtered, count);

  for (std::uint32_t& number : work.counts) number = 0;
  std::uint64_t bits = 3 + 5 + 5 + 4;
  for_each_token(
      filtered, count, [&](std::uint8_t byte) { ++work.counts[byte]; },
      [&](std::size_t length) {
        const LengthSymbol symbol = length_symbol(length);
        ++work.counts[symbol.symbol];
        bits += symbol.extra_bits + 1U;
      });
  work.counts[256] = 1;
  work.lengths[kMaxHuffmanSymbols] = 0;
  huffman(work.counts, kMaxHuffmanSymbols, kMaxCodeBits, work, work.lengths, work.codes);
  unsigned literal_codes = kMaxHuffmanSymbols;
  while (work.lengths[literal_codes - 1] == 0) --literal_codes;
  for (unsigned symbol = 0; symbol < literal_codes; ++symbol)
    bits += std::uint64_t{work.counts[symbol]} * work.lengths[symbol];

  const std::uint8_t after = work.lengths[literal_codes];
  work.lengths[literal_codes] = 1;  // the only distance code
  std::uint32_t coded_counts[kLengthCodes] = {};
  code_lengths(work.lengths, literal_codes + 1,
               [&](unsigned symbol, unsigned, unsigned) { ++coded_counts[symbol]; });
  huffman(coded_counts, kLengthCodes, kMaxLengthCodeBits, work, work.coded_lengths, work.coded_codes);
  unsigned written = kLengthCodes;
  while (work.coded_lengths[code_order(written - 1)] == 0) --written;
  bits += std::uint64_t{3} * written;
  code_lengths(work.lengths, literal_codes + 1, [&](unsigned symbol, unsigned extra_bits, unsigned) {
    bits += work.coded_lengths[symbol] + extra_bits;
  });

  const auto bytes = static_cast<std::size_t>(count);
  const MatchRule rule = match_rule(bytes, block_bytes(bits, false));
  bool tried = rule == MatchRule::always;
  for (const WindowPosition position : {WindowPosition::min_key, WindowPosition::first_byte}) {
    if (rule != MatchRule::by_repeats || tried) continue;
    // repeats() reads the lengths of literals only, so it ignores the length of the distance code.
    tried = has_enough_repeats(repeats(filtered, bytes, work.lengths, position, seen), bytes,
                               block_bytes(bits, false));
  }
  if (tried) {
    for (std::size_t i = 0; i < bytes; ++i) out[i] = filtered[i];
    packed.bytes = bytes;
    packed.filtered = 1;
    return packed;
  }
  if (stored_bytes(bytes) <= block_bytes(bits, last)) {
    put_stored(filtered, bytes, last, out);
    packed.bytes = stored_bytes(bytes);
    return packed;
  }

  BitWriter writer(out);
  writer.put(last ? 1 : 0, 1);
  writer.put(2, 2);
  writer.put(literal_codes - 257, 5);
  writer.put(0, 5);
  writer.put(written - 4, 4);
  for (unsigned i = 0; i < written; ++i) writer.put(work.coded_lengths[code_order(i)], 3);
  code_lengths(work.lengths, literal_codes + 1, [&](unsigned symbol, unsigned extra_bits, unsigned extra) {
    writer.put(work.coded_codes[symbol], work.coded_lengths[symbol]);
    writer.put(extra, extra_bits);
  });
  work.lengths[literal_codes] = after;
  for_each_token(
      filtered, count, [&](std::uint8_t byte) { writer.put(work.codes[byte], work.lengths[byte]); },
      [&](std::size_t length) {
        const LengthSymbol symbol = length_symbol(length);
        writer.put(work.codes[symbol.symbol], work.lengths[symbol.symbol]);
        writer.put(symbol.extra, symbol.extra_bits);
        writer.put(0, 1);
      });
  writer.put(work.codes[256], work.lengths[256]);
  if (!last) writer.put(0, 3);
  writer.fill_byte();
  if (!last) writer.put(0xFFFF0000, 32);
  packed.bytes = block_bytes(bits, last);
  return packed;
}

}  // namespace imgpipe::naive_png
