#include <algorithm>
#include <type_traits>

#include "kernels/crop/crop.h"
#include "kernels/crop/pad.h"
#include "kernels/shared/color.h"
#include "kernels/shared/image_group.cuh"
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

// Returns a word whose first n bytes are 0xFF and the others 0.
__device__ __forceinline__ std::uint32_t first_bytes(std::int64_t n) {
  return n <= 0 ? 0 : n >= 4 ? 0xFFFFFFFF : (1U << (8 * n)) - 1;
}

// Copies as copy_rows_kernel() does, and fills the bytes that the input does not have. `offset` is rows.from
// rounded down to a multiple of 16; Words and `bits` are the remainder.
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

// The arguments of copy_plane_rows() for an image of a group.
struct CroppedImage {
  MovedPlanes planes;
  int count = 0;  // of planes
  MovedRows moved;
  std::int64_t offset = 0;
  unsigned words = 0, bits = 0;
};

// Does the same as copy_rows_kernel(), for all planes of an image of a group.
template <std::size_t Most>
__global__ __launch_bounds__(kMovedThreads) void crop_group_kernel(
    const __grid_constant__ ImageGroup<CroppedImage, Most> group) {
  const CroppedImage& image = group.of_block();
  for (int i = 0; i < image.count; ++i) {
    const auto copy = [&]<int Words>(std::integral_constant<int, Words>) {
      copy_plane_rows<Words>(image.planes.plane[i], image.moved, image.offset, image.bits);
    };
    switch (image.words) {
      case 0:
        copy(std::integral_constant<int, 0>());
        break;
      case 1:
        copy(std::integral_constant<int, 1>());
        break;
      case 2:
        copy(std::integral_constant<int, 2>());
        break;
      default:
        copy(std::integral_constant<int, 3>());
        break;
    }
  }
}

// The rows and bytes of the input at which a canvas inside the image begins.
struct CropStart {
  std::int64_t row, byte;
};
CropStart crop_start(const StageCall<Device>& call, const Canvas& canvas) {
  return {canvas.top + call.out_top - call.in_top, canvas.left * pixel_bytes(call.out.planes[0])};
}
bool is_inside_image(const StageCall<Device>& call, const Canvas& canvas) {
  return is_inside(canvas.left, call.out.type.width, call.in.type.width) &&
         is_inside(canvas.top, call.out.type.height, call.in.type.height);
}

CroppedImage cropped_image(const StageCall<Device>& call) {
  const CropStart start = crop_start(call, crop_canvas(call.in.type, call.parameters));
  const auto& out = call.out.planes[0];
  return {moved_planes_of(call),
          moved_planes(call.in.type),
          {out.height, out.row_bytes(), start.row},
          start.byte / 16 * 16,
          static_cast<unsigned>(start.byte % 16 / 4),
          static_cast<unsigned>(start.byte % 4 * 8)};
}

CudaStatus launch_crops(DeviceCalls calls, const CudaLaunch& launch) {
  const auto most = [&](auto MovedRows::*size) {
    return largest_of(calls, [&](const StageCall<Device>& call) { return cropped_image(call).moved.*size; });
  };
  dim3 grid = moved_grid({most(&MovedRows::rows), most(&MovedRows::bytes)}, 16, 1);
  return launch_in_groups(
      calls, cropped_image,
      [&]<std::size_t Most>(const ImageGroup<CroppedImage, Most>& group, DeviceCalls part) {
        grid.z = group_size(part);
        crop_group_kernel<<<grid, kMovedThreads, 0, launch.stream>>>(group);
        return cudaGetLastError();
      });
}

CudaStatus launch_canvas(const StageCall<Device>& call, const CudaLaunch& launch, const Canvas& canvas) {
  const FrameType& type = call.in.type;
  const auto& in = call.in.planes[0];
  const auto& out = call.out.planes[0];
  const auto [first, from] = crop_start(call, canvas);
  if (is_inside_image(call, canvas)) {
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

CudaStatus crop_cuda(DeviceCalls calls, const CudaLaunch& launch) {
  const bool all_inside = std::ranges::all_of(calls, [](const StageCall<Device>* call) {
    return is_inside_image(*call, crop_canvas(call->in.type, call->parameters));
  });
  if (calls.size() > 1 && all_inside) return launch_crops(calls, launch);
  return launch_each(calls, [&](const StageCall<Device>& call) {
    return launch_canvas(call, launch, crop_canvas(call.in.type, call.parameters));
  });
}

CudaStatus pad_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return launch_canvas(call, launch, pad_canvas(call.in.type, call.parameters));
}

}  // namespace imgpipe
