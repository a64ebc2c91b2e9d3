#include "lab/pipeline/lab_transfer.h"

#include <array>

namespace imgpipe {
namespace {

#define IMGPIPE_TRANSFER(kind) Transfer::kind, #kind

constexpr TransferVariant transfer(std::string_view name, std::string_view idea, std::string_view origin,
                                   Transfer kind, std::string_view label) {
  return {{name, idea, origin}, kind, label};
}
// A transfer of the CUDA engine or of batches.
constexpr TransferVariant product_transfer(std::string_view name, std::string_view idea,
                                           std::string_view origin, Transfer kind, std::string_view label) {
  TransferVariant variant = transfer(name, idea, origin, kind, label);
  variant.production = true;
  return variant;
}

}  // namespace

std::span<const TransferVariant> transfer_ladder() {
  static constexpr std::array kVariants{
      transfer("up-pageable", "from ordinary memory: the driver copies it through an internal pinned buffer",
               "first version in most courses", IMGPIPE_TRANSFER(up_pageable)),
      product_transfer(
          "up-ring", "the same by our own ring of three pinned chunks, one filled while another is uploaded",
          "imgpipe, while it decodes", IMGPIPE_TRANSFER(up_ring)),
      transfer("up-pinned", "from page-locked memory: the device reads it directly",
               "Harris 2012, optimizing data transfers", IMGPIPE_TRANSFER(up_pinned)),
      product_transfer("up-pinned-2d", "the same into padded rows, which kernels read in aligned vectors",
                       "cudaMemcpy2DAsync", IMGPIPE_TRANSFER(up_pinned_2d)),
      transfer("down-pageable", "into ordinary memory", "first version in most courses",
               IMGPIPE_TRANSFER(down_pageable)),
      transfer("down-pinned", "into page-locked memory", "Harris 2012, optimizing data transfers",
               IMGPIPE_TRANSFER(down_pinned)),
      product_transfer("down-pinned-2d", "the same from padded rows", "cudaMemcpy2DAsync",
                       IMGPIPE_TRANSFER(down_pinned_2d)),
      transfer("round-serial", "upload, gray, download, one after another", "textbook",
               IMGPIPE_TRANSFER(round_serial)),
      transfer("round-chunked", "in bands on four streams: upload, gray and download of neighbours overlap",
               "Harris 2012, overlapping data transfers", IMGPIPE_TRANSFER(round_chunked)),
      transfer("alloc-device", "cudaMalloc and cudaFree of the image", "CUDA runtime",
               IMGPIPE_TRANSFER(make_device)),
      transfer("alloc-device-pool",
               "cudaMallocFromPoolAsync and cudaFreeAsync, from a pool that keeps its memory",
               "CUDA 11.2, stream-ordered allocator", IMGPIPE_TRANSFER(make_device_pool)),
      transfer("alloc-pinned", "cudaHostAlloc and cudaFreeHost", "CUDA runtime",
               IMGPIPE_TRANSFER(make_pinned)),
      product_transfer("alloc-registered", "ordinary memory in huge pages, then cudaHostRegister", "imgpipe",
                       IMGPIPE_TRANSFER(make_registered)),
  };
  return kVariants;
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
