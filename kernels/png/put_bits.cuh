#pragma once

#include <cuda_runtime.h>

#include "images/host_device.h"

namespace imgpipe::png_strips {

// Stores `value` in `words`, starting at bit `at`. The bits there must be zero.
__device__ inline void put_bits(std::uint32_t* words, std::uint32_t at, std::uint32_t value) {
  const unsigned shift = at % 32;
  const std::uint32_t low = value << shift;
  const std::uint32_t high = shift == 0 ? 0 : value >> (32 - shift);
  if (low != 0) atomicOr(words + at / 32, low);
  if (high != 0) atomicOr(words + at / 32 + 1, high);
}

}  // namespace imgpipe::png_strips
