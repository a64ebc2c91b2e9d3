#include "lab/pipeline/lab_transfer.h"

#include <array>

namespace imgpipe {

std::span<const TransferRung> transfer_ladder() {
  static constexpr std::array kLadder{
      TransferRung{.name = "up-pageable",
                   .idea = "from ordinary memory: the driver copies it through a pinned buffer of its own",
                   .origin = "first attempt of every course",
                   .kind = Transfer::up_pageable},
      TransferRung{
          .name = "up-ring",
          .idea = "the same by our own ring of three pinned chunks, one filled while another goes up",
          .origin = "imgpipe, while it decodes",
          .kind = Transfer::up_ring,
          .production = true},
      TransferRung{.name = "up-pinned",
                   .idea = "from page-locked memory: the device reads it by itself",
                   .origin = "Harris 2012, optimizing data transfers",
                   .kind = Transfer::up_pinned},
      TransferRung{.name = "up-pinned-2d",
                   .idea = "the same into padded rows, which kernels read in aligned vectors",
                   .origin = "cudaMemcpy2DAsync",
                   .kind = Transfer::up_pinned_2d,
                   .production = true},
      TransferRung{.name = "down-pageable",
                   .idea = "into ordinary memory",
                   .origin = "first attempt of every course",
                   .kind = Transfer::down_pageable},
      TransferRung{.name = "down-pinned",
                   .idea = "into page-locked memory",
                   .origin = "Harris 2012, optimizing data transfers",
                   .kind = Transfer::down_pinned},
      TransferRung{.name = "down-pinned-2d",
                   .idea = "the same from padded rows",
                   .origin = "cudaMemcpy2DAsync",
                   .kind = Transfer::down_pinned_2d,
                   .production = true},
      TransferRung{.name = "round-serial",
                   .idea = "up, gray, down, one after the other",
                   .origin = "textbook",
                   .kind = Transfer::round_serial},
      TransferRung{.name = "round-chunked",
                   .idea = "in bands on four streams: up, gray and down of neighbours overlap",
                   .origin = "Harris 2012, overlapping data transfers",
                   .kind = Transfer::round_chunked},
      TransferRung{.name = "alloc-device",
                   .idea = "cudaMalloc and cudaFree of the image",
                   .origin = "CUDA runtime",
                   .kind = Transfer::make_device},
      TransferRung{.name = "alloc-device-pool",
                   .idea = "cudaMallocFromPoolAsync and cudaFreeAsync, from a pool that keeps what it got",
                   .origin = "CUDA 11.2, stream-ordered allocator",
                   .kind = Transfer::make_device_pool},
      TransferRung{.name = "alloc-pinned",
                   .idea = "cudaHostAlloc and cudaFreeHost",
                   .origin = "CUDA runtime",
                   .kind = Transfer::make_pinned},
      TransferRung{.name = "alloc-registered",
                   .idea = "ordinary memory in huge pages, then cudaHostRegister",
                   .origin = "imgpipe",
                   .kind = Transfer::make_registered,
                   .production = true},
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
