// rotate on a CUDA device. By 180 degrees: reversed rows, last one first. By 90, 270: tiles in shared memory.
//
// A group is the smallest number of pixels of a row that fills whole words: 4 of one byte, 2 of two, 4 of
// three, 1 of four, 2 of six, 1 of eight, twelve or sixteen. For groups of n pixels, a thread loads a group
// from each of n rows, in the order in which their pixels are adjacent in the output. It transposes the
// pixels in registers, which yields a group for each of n output rows. Shared memory joins groups into runs
// of at least 128 bytes.
#include <cstdint>

#include "kernels/rotate/rotate.h"
#include "kernels/shared/moved_rows.cuh"

namespace imgpipe {
namespace {

// Many waves of blocks on every device; the grid strides over the remaining tiles.
constexpr std::int64_t kMaxBlocks = std::int64_t{1} << 20;

// The tile of a block.
template <int Bytes>
struct TurnTile {
  static constexpr int kWords = Bytes % 3 == 0 ? 3 : Bytes < 4 ? 1 : Bytes / 4;  // per group
  static constexpr int kPixels = 4 * kWords / Bytes;
  // In the input: kAcross groups per row, and kDown groups of rows. 32 groups of three-byte pixels would
  // exceed 48 KiB.
  static constexpr int kAcross = Bytes == 3 ? 16 : 32;
  static constexpr int kDown = 32;
  static constexpr int kColumns = kPixels * kAcross, kRows = kPixels * kDown;
  // Words between rows of the output in shared memory: the row's words, padded so that the lanes of a warp,
  // which write to the rows of kAcross groups, access 32 different banks. If a warp writes 16 groups and two
  // rows (3 words apart), rows must be 2 banks apart.
  static constexpr int kRowWords = kDown * kWords;
  static constexpr int kPitch = kRowWords + (kAcross == 16 ? 2 : 1);
};

// Sizes of the input image.
struct TurnedSize {
  std::int64_t width = 0, height = 0;
  std::int64_t tiles_across = 0, tiles = 0;
  bool clockwise = true;
};

// Output pixel (x, y) is pixel (y, height - 1 - x) or (width - 1 - y, x) of the input. A block processes a
// tile of kColumns columns and kRows rows. Thread t loads the groups of column t % kAcross of every
// (kMovedThreads / kAcross)-th group of rows.
template <int Bytes>
__global__ __launch_bounds__(kMovedThreads) void turn_kernel(MovedPlanes planes, TurnedSize size) {
  using Tile = TurnTile<Bytes>;
  constexpr int kWords = Tile::kWords;
  constexpr int kPixels = Tile::kPixels;
  __shared__ std::uint32_t turned[Tile::kColumns * Tile::kPitch];
  const CopyPlane plane = moved_plane_of_block(planes);
  const int across = static_cast<int>(threadIdx.x) % Tile::kAcross;
  for (std::int64_t tile = blockIdx.x; tile < size.tiles; tile += gridDim.x) {
    const std::int64_t left = tile % size.tiles_across * Tile::kColumns;  // column of the input
    const std::int64_t x0 = tile / size.tiles_across * Tile::kRows;       // column of the output
    const bool inside = left + across * kPixels < size.width;
    const std::int64_t column_bytes = left * Bytes + across * kWords * 4;
#pragma unroll
    for (int pass = 0; pass < Tile::kDown * Tile::kAcross / kMovedThreads; ++pass) {
      const int down = static_cast<int>(threadIdx.x) / Tile::kAcross + pass * (kMovedThreads / Tile::kAcross);
      std::uint32_t words[kPixels * kWords] = {};
#pragma unroll
      for (int i = 0; i < kPixels; ++i) {
        const std::int64_t x = x0 + down * kPixels + i;
        if (!inside || x >= size.height) continue;
        const std::int64_t row = size.clockwise ? size.height - 1 - x : x;
        // Rows are readable up to a multiple of 16 pixels, and so to the end of this group.
        const auto* const from =
            reinterpret_cast<const std::uint32_t*>(plane.in + row * plane.in_stride + column_bytes);
#pragma unroll
        for (int w = 0; w < kWords; ++w) words[i * kWords + w] = __ldg(from + w);
      }
#pragma unroll
      for (int j = 0; j < kPixels; ++j) {
        std::uint32_t* const to = turned + (j * Tile::kAcross + across) * Tile::kPitch + down * kWords;
#pragma unroll
        for (int w = 0; w < kWords; ++w) {
          // Byte k of column j's group: byte k % Bytes of the pixel of row k / Bytes.
          const auto source = [j](int k) { return k / Bytes * (4 * kWords) + j * Bytes + k % Bytes; };
          to[w] = word_of_bytes<kMovedUnit<Bytes>>(words, source(4 * w), source(4 * w + 1), source(4 * w + 2),
                                                   source(4 * w + 3));
        }
      }
    }
    __syncthreads();  // the whole tile is in shared memory
    const std::int64_t out_bytes = size.height * Bytes;
    for (int i = static_cast<int>(threadIdx.x); i < Tile::kColumns * Tile::kRowWords; i += kMovedThreads) {
      const int row = i / Tile::kRowWords;
      const int word = i % Tile::kRowWords;
      const std::int64_t column = left + row % Tile::kAcross * kPixels + row / Tile::kAcross;
      if (column >= size.width) continue;
      const std::int64_t at = x0 * Bytes + 4 * word;
      std::uint8_t* const to =
          plane.out + (size.clockwise ? column : size.width - 1 - column) * plane.out_stride + at;
      const std::uint32_t value = turned[row * Tile::kPitch + word];
      if (at + 4 <= out_bytes) {
        *reinterpret_cast<std::uint32_t*>(to) = value;
      } else {  // never writes padding
        for (int k = 0; k < 4 && at + k < out_bytes; ++k) to[k] = static_cast<std::uint8_t>(value >> (8 * k));
      }
    }
    __syncthreads();  // before the next tile overwrites it
  }
}

template <int Bytes>
void launch_turn(const StageCall<Device>& call, bool clockwise, const CudaLaunch& launch) {
  using Tile = TurnTile<Bytes>;
  TurnedSize size{call.in.planes[0].width, call.in.planes[0].height, 0, 0, clockwise};
  size.tiles_across = (size.width + Tile::kColumns - 1) / Tile::kColumns;
  size.tiles = size.tiles_across * ((size.height + Tile::kRows - 1) / Tile::kRows);
  const dim3 grid(static_cast<unsigned>(std::min(size.tiles, kMaxBlocks)), 1,
                  static_cast<unsigned>(moved_planes(call.in.type)));
  turn_kernel<Bytes><<<grid, kMovedThreads, 0, launch.stream>>>(moved_planes_of(call), size);
}

}  // namespace

CudaStatus rotate_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  const RotateAngle angle = RotateParameters(call.parameters).angle;
  const auto& out = call.out.planes[0];
  if (angle == RotateAngle::by_180) {
    reverse_rows(call, {out.height, out.row_bytes(), out.height - 1, -1}, launch);
  } else {
    with_pixel_bytes(pixel_bytes(out), [&](auto bytes) {
      launch_turn<bytes.value>(call, angle == RotateAngle::by_90, launch);
    });
  }
  return cudaGetLastError();
}

}  // namespace imgpipe
