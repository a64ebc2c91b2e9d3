#include "kernels/icc/icc.h"
#include "kernels/shared/map_samples.cuh"

namespace imgpipe {
namespace {

template <class T>
struct IccPlanes {
  SamplePlanes<const T> in;
  SamplePlanes<T> out;
  bool copies_alpha;
};

// A lane handles pixels blockDim.x apart.
template <class T>
__global__ __launch_bounds__(kMapThreads) void icc_kernel(const __grid_constant__ IccPlanes<T> planes,
                                                          const std::byte* table) {
  const IccHead& head = *reinterpret_cast<const IccHead*>(table);
  const Plane<T, Device>& first = planes.out.plane[0];
  for (std::int64_t y = blockIdx.y; y < first.height; y += gridDim.y) {
    for (std::int64_t x = std::int64_t{blockIdx.x} * kMapThreads + threadIdx.x; x < first.width;
         x += std::int64_t{gridDim.x} * kMapThreads) {
      const auto in = [&](int plane) { return planes.in.plane[plane].row(y)[x]; };
      if (head.rule == IccRule::curve) {
        planes.out.plane[0].row(y)[x] = icc_curve<T>(table)[in(0)];
        if (planes.copies_alpha) planes.out.plane[1].row(y)[x] = in(1);
        continue;
      }
      const T from[4] = {in(0), in(1), in(2), head.inputs == 4 ? in(3) : T{0}};
      T to[3];
      icc_pixel<T>(head, table, from, to);
#pragma unroll
      for (int c = 0; c < 3; ++c) planes.out.plane[c].row(y)[x] = to[c];
      if (planes.copies_alpha) planes.out.plane[3].row(y)[x] = in(3);
    }
  }
}

}  // namespace

CudaStatus icc_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  constexpr std::int64_t kMaxRows = 65535;
  const FrameType& type = call.out.type;
  return visit_sample(type.sample, [&]<class T>(T) {
    const IccPlanes<T> planes{sample_planes<const T>(call.in), sample_planes<T>(call.out), type.alpha};
    const std::int64_t rows = planes.out.plane[0].height;
    const dim3 grid(static_cast<unsigned>((type.width + kMapThreads - 1) / kMapThreads),
                    static_cast<unsigned>(rows < kMaxRows ? rows : kMaxRows));
    icc_kernel<T><<<grid, kMapThreads, 0, launch.stream>>>(planes, call.table.data);
    return cudaGetLastError();
  });
}

}  // namespace imgpipe
