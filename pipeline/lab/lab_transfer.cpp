#include "pipeline/lab/lab_transfer.h"

#include <array>

namespace imgpipe {

std::span<const TransferRung> transfer_ladder() {
  static constexpr std::array kLadder{
      TransferRung{"up-pageable",
                   "from ordinary memory: the driver copies it through a pinned buffer of its own",
                   "first attempt of every course", Transfer::up_pageable, false},
      TransferRung{"up-ring",
                   "the same by our own ring of three pinned chunks, one filled while another goes up",
                   "imgpipe, while it decodes", Transfer::up_ring, true},
      TransferRung{"up-pinned", "from page-locked memory: the device reads it by itself",
                   "Harris 2012, optimizing data transfers", Transfer::up_pinned, false},
      TransferRung{"up-pinned-2d", "the same into padded rows, which kernels read in aligned vectors",
                   "cudaMemcpy2DAsync", Transfer::up_pinned_2d, true},
      TransferRung{"down-pageable", "into ordinary memory", "first attempt of every course",
                   Transfer::down_pageable, false},
      TransferRung{"down-pinned", "into page-locked memory", "Harris 2012, optimizing data transfers",
                   Transfer::down_pinned, false},
      TransferRung{"down-pinned-2d", "the same from padded rows", "cudaMemcpy2DAsync",
                   Transfer::down_pinned_2d, true},
      TransferRung{"round-serial", "up, gray, down, one after the other", "textbook", Transfer::round_serial,
                   false},
      TransferRung{"round-chunked", "in bands on four streams: up, gray and down of neighbours overlap",
                   "Harris 2012, overlapping data transfers", Transfer::round_chunked, false},
      TransferRung{"alloc-device", "cudaMalloc and cudaFree of the image", "CUDA runtime",
                   Transfer::make_device, false},
      TransferRung{"alloc-device-pool",
                   "cudaMallocFromPoolAsync and cudaFreeAsync, from a pool that keeps what it got",
                   "CUDA 11.2, stream-ordered allocator", Transfer::make_device_pool, false},
      TransferRung{"alloc-pinned", "cudaHostAlloc and cudaFreeHost", "CUDA runtime", Transfer::make_pinned,
                   false},
      TransferRung{"alloc-registered", "ordinary memory in huge pages, then cudaHostRegister", "imgpipe",
                   Transfer::make_registered, true},
  };
  return kLadder;
}

std::int64_t transfer_bytes(Transfer kind, std::int64_t pixels) {
  switch (kind) {
    case Transfer::down_pageable:
    case Transfer::down_pinned:
    case Transfer::down_pinned_2d:
      return pixels;
    case Transfer::round_serial:
    case Transfer::round_chunked:
      return 4 * pixels;
    case Transfer::make_device:
    case Transfer::make_device_pool:
    case Transfer::make_pinned:
    case Transfer::make_registered:
      return 0;
    default:
      return 3 * pixels;
  }
}

}  // namespace imgpipe
