// huffman_lengths() and huffman_codes() (images/codecs/png/huffman_code.h), computed by a block of threads.
#pragma once

#include <cuda_runtime.h>

#include "images/codecs/png/huffman_code.h"
#include "images/codecs/png/huffman_tree.h"
#include "kernels/png/tile.cuh"

namespace imgpipe::png_strips {

// Sums of counts stay below 2^32: a strip has fewer than 2^30 bytes.
struct HuffmanWork {
  unsigned long long keys[kMaxHuffmanSymbols];  // count << 16 | symbol; all ones if it does not occur
  std::uint32_t weights[kMaxHuffmanSymbols];    // ascending
  std::uint32_t joined[kMaxHuffmanSymbols];
  std::uint16_t parents[2 * kMaxHuffmanSymbols];
  std::uint16_t symbols[kMaxHuffmanSymbols];  // in the order of weights
  std::uint32_t depths[kMaxCodeBits + 1];     // number of leaves at each depth
};

// Computes `lengths` from `counts` of `symbols` symbols (at most kMaxHuffmanSymbols and one per thread),
// both in shared memory. All threads must call it; it ends with a barrier.
__device__ inline void block_huffman_lengths(const std::uint32_t* counts, unsigned symbols, unsigned max_bits,
                                             std::uint8_t* lengths, HuffmanWork& work) {
  const unsigned symbol = threadIdx.x;
  const bool occurs = symbol < symbols && counts[symbol] != 0;
  const unsigned long long key =
      occurs ? static_cast<unsigned long long>(counts[symbol]) << 16 | symbol : ~0ULL;
  if (symbol < symbols) {
    work.keys[symbol] = key;
    lengths[symbol] = 0;
  }
  if (symbol <= kMaxCodeBits) work.depths[symbol] = 0;
  const auto leaves = static_cast<unsigned>(__syncthreads_count(occurs ? 1 : 0));
  if (leaves < 2) {
    if (occurs) lengths[symbol] = 1;
    __syncthreads();
    return;
  }
  unsigned rank = 0;
  if (occurs) {
    for (unsigned other = 0; other < symbols; ++other) rank += work.keys[other] < key ? 1 : 0;
    work.weights[rank] = counts[symbol];
    work.symbols[rank] = static_cast<std::uint16_t>(symbol);
  }
  __syncthreads();
  if (threadIdx.x == 0) join_nodes(work.weights, leaves, work.joined, work.parents);
  __syncthreads();
  if (symbol < leaves) {
    unsigned depth = 0;
    for (unsigned node = symbol; node != 2 * leaves - 2; node = work.parents[node]) ++depth;
    atomicAdd(&work.depths[depth < max_bits ? depth : max_bits], 1U);
  }
  __syncthreads();
  if (threadIdx.x == 0) mend_over_full(work.depths, max_bits);
  __syncthreads();
  if (symbol < leaves) {
    unsigned bits = max_bits;
    for (unsigned end = work.depths[bits]; symbol >= end; end += work.depths[bits]) --bits;
    lengths[work.symbols[symbol]] = static_cast<std::uint8_t>(bits);
  }
  __syncthreads();
}

// Writes an entry for each symbol to `table`: code << 8 | its bits, or 0 if the symbol has no code. All
// threads must call it; a barrier must follow.
__device__ inline void block_huffman_table(const std::uint8_t* lengths, unsigned symbols,
                                           std::uint32_t* table) {
  const unsigned symbol = threadIdx.x;
  if (symbol >= symbols) return;
  const unsigned length = lengths[symbol];
  // The first code of a length: 2^length times the fraction of code space that shorter codes take.
  std::uint32_t code = 0;
  for (unsigned other = 0; other < symbols; ++other) {
    const unsigned bits = lengths[other];
    if (bits == 0 || bits > length) continue;
    if (bits < length) {
      code += 1U << (length - bits);
    } else {
      code += other < symbol ? 1 : 0;
    }
  }
  table[symbol] = length == 0 ? 0 : __brev(code) >> (32 - length) << 8 | length;
}

}  // namespace imgpipe::png_strips
