#include "kernels/crop/crop.h"
#include "kernels/crop/pad.h"
#include "kernels/shared/color.h"
#include "kernels/shared/moved_rows.cuh"

namespace imgpipe {
namespace {

// The colour of each plane as the 12 words of 48 bytes, a multiple of every pixel's size.
constexpr int kColorVectors = 3;
struct CanvasColors {
  std::uint32_t words[kMaxMovedPlanes][4 * kColorVectors];
};

// Output byte x of row y is byte x + from of row y + first of the input's planes, if that is byte
// 0..in_bytes-1 of row in_first..in_end-1, which are the rows of the image.
struct CanvasRows {
  std::int64_t first = 0, in_first = 0, in_end = 0;
  std::int64_t from = 0, in_bytes = 0;
};

CanvasColors canvas_colors(const StageCall<Device>& call, const Canvas& canvas) {
  CanvasColors colors{};
  for (int i = 0; i < moved_planes(call.in.type); ++i) {
    const ColorPixel pixel = color_pixel(canvas.color, call.in.type, i);
    auto* const to = reinterpret_cast<std::byte*>(colors.words[i]);
    for (std::size_t k = 0; k < sizeof colors.words[i]; ++k)
      to[k] = pixel.data[k % static_cast<std::size_t>(pixel.bytes)];
  }
  return colors;
}

// Returns word k of plane blockIdx.z. Selects by comparison, see plane_of_block().
__device__ __forceinline__ std::uint32_t color_word(const CanvasColors& colors, int k) {
  return blockIdx.z == 0   ? colors.words[0][k]
         : blockIdx.z == 1 ? colors.words[1][k]
         : blockIdx.z == 2 ? colors.words[2][k]
                           : colors.words[3][k];
}

// A word whose first n bytes are set.
__device__ __forceinline__ std::uint32_t first_bytes(std::int64_t n) {
  return n <= 0 ? 0 : n >= 4 ? 0xFFFFFFFF : (1U << (8 * n)) - 1;
}

// Copies as copy_rows_kernel() does, and fills the bytes that the input does not have. `offset` is rows.from
// rounded down to a multiple of 16; Words and `bits` are the rest.
template <int Words>
__global__ __launch_bounds__(kMovedThreads) void canvas_kernel(MovedPlanes planes, CanvasColors colors,
                                                               MovedRows moved, CanvasRows rows,
                                                               std::int64_t offset, unsigned bits) {
  const CopyPlane plane = moved_plane_of_block(planes);
  const std::int64_t x = (std::int64_t{blockIdx.x} * kWarpLanes + threadIdx.x % kWarpLanes) * 16;
  if (x >= moved.bytes) return;
  const std::int64_t base = offset + x;
  const bool is_first = base >= 0 && base < rows.in_bytes;
  const bool is_second = base + 16 >= 0 && base + 16 < rows.in_bytes;
  const int vector = static_cast<int>(x / 16 % kColorVectors);
  const std::int64_t from = rows.from + x;
  std::uint32_t color[4], mask[4];
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    color[w] = vector == 0   ? color_word(colors, w)
               : vector == 1 ? color_word(colors, 4 + w)
                             : color_word(colors, 8 + w);
    mask[w] = first_bytes(rows.in_bytes - from - 4 * w) & ~first_bytes(-from - 4 * w);
  }
  constexpr unsigned kRows = kMovedThreads / kWarpLanes;
  for (std::int64_t y = std::int64_t{blockIdx.y} * kRows + threadIdx.x / kWarpLanes; y < moved.rows;
       y += std::int64_t{gridDim.y} * kRows) {
    const std::int64_t row = rows.first + y;
    const bool inside = row >= rows.in_first && row < rows.in_end;
    const std::uint8_t* in_row = plane.in + row * plane.in_stride + base;
    std::uint32_t in[8] = {};
    if (inside && is_first) load_words(in_row, in);
    if (inside && is_second) load_words(in_row + 16, in + 4);
    std::uint32_t out[4];
    shifted_words<Words>(in, bits, out);
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const std::uint32_t copied = inside ? mask[w] : 0;
      out[w] = (out[w] & copied) | (color[w] & ~copied);
    }
    store_vector(plane.out + y * plane.out_stride + x, out, moved.bytes - x);
  }
}

CudaStatus launch_canvas(const StageCall<Device>& call, const CudaLaunch& launch, const Canvas& canvas) {
  const FrameType& type = call.in.type;
  const auto& in = call.in.planes[0];
  const auto& out = call.out.planes[0];
  const std::int64_t first = canvas.top + call.out_top - call.in_top;
  const std::int64_t from = canvas.left * pixel_bytes(out);
  if (is_inside(canvas.left, call.out.type.width, type.width) &&
      is_inside(canvas.top, call.out.type.height, type.height)) {
    copy_rows(call, {out.height, out.row_bytes(), first}, from, launch);
    return cudaGetLastError();
  }
  const MovedRows moved{out.height, out.row_bytes()};
  const CanvasRows rows{first, -call.in_top, type.height - call.in_top, from, in.row_bytes()};
  const std::int64_t rest = from & 15;
  with_words(static_cast<int>(rest / 4), [&](auto words) {
    canvas_kernel<words.value>
        <<<moved_grid(moved, 16, moved_planes(type)), kMovedThreads, 0, launch.stream>>>(
            moved_planes_of(call), canvas_colors(call, canvas), moved, rows, from - rest,
            static_cast<unsigned>(rest % 4 * 8));
  });
  return cudaGetLastError();
}

}  // namespace

CudaStatus crop_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return launch_canvas(call, launch, crop_canvas(call.in.type, call.parameters));
}

CudaStatus pad_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return launch_canvas(call, launch, pad_canvas(call.in.type, call.parameters));
}

}  // namespace imgpipe
