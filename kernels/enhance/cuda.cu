#include "kernels/enhance/enhance.h"
#include "kernels/shared/device_rows.cuh"

namespace imgpipe {
namespace {

constexpr int kThreads = 256;

// Per step, a lane processes a vector of 16 bytes of each plane. Warps walk as in RowSegments.
template <class T>
__global__ __launch_bounds__(kThreads) void saturation_kernel(DevicePlanes<const T> in, DevicePlanes<T> out,
                                                              LumaWeights luma, float factor) {
  constexpr int kSamples = kVectorSamples<T>, kOfWord = kSamples / 4;
  for (RowSegments<1, kSamples> at(in.plane[0].width, in.plane[0].height); at.inside(); at.next()) {
    const std::int64_t left = in.plane[0].width - at.x();
    if (left <= 0) continue;
    std::uint32_t words[3][4], made[3][4];
#pragma unroll
    for (int c = 0; c < 3; ++c) load_vectors<1>(in.plane[c].row(at.y()) + at.x(), words[c]);
#pragma unroll
    for (int word = 0; word < 4; ++word) {
      T grey[kOfWord];
#pragma unroll
      for (int k = 0; k < kOfWord; ++k) {
        const int i = word * kOfWord + k;
        grey[k] =
            luma_of<T>(luma, static_cast<T>(sample_of<T>(words[0], i)),
                       static_cast<T>(sample_of<T>(words[1], i)), static_cast<T>(sample_of<T>(words[2], i)));
      }
#pragma unroll
      for (int c = 0; c < 3; ++c) {
        made[c][word] = word_of_samples<T>([&](int k) -> std::uint32_t {
          return enhanced<T>(static_cast<int>(sample_of<T>(words[c], word * kOfWord + k)), grey[k], factor);
        });
      }
    }
#pragma unroll
    for (int c = 0; c < 3; ++c) store_vector(out.plane[c].row(at.y()) + at.x(), made[c], left);
  }
}

template <class T>
CudaStatus launch_saturation(const StageCall<Device>& call, const CudaLaunch& launch) {
  const unsigned grid = stride_blocks<1, kVectorSamples<T>>(launch, call.in.type, kThreads, kOneSegmentEach);
  saturation_kernel<T>
      <<<grid, kThreads, 0, launch.stream>>>(color_planes_of<T>(call.in), color_planes_of<T>(call.out),
                                             luma_weights(Luma::bt601), enhance_factor(call.parameters));
  return cudaGetLastError();
}

}  // namespace

CudaStatus saturation_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  return visit_sample(call.in.type.sample, [&]<class T>(T) { return launch_saturation<T>(call, launch); });
}

}  // namespace imgpipe
