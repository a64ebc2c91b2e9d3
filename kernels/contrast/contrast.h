// Contrast stretch: the values between lo and hi spread over all values of the output's samples (Gonzalez and
// Woods, Digital Image Processing, 3.2.4). lo and hi come from the histogram: the first bin from either end
// at which the count of pixels from that end exceeds the clipped share.
#pragma once

#include "kernels/shared/stretch.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// The same image, its samples of the type that is wanted.
[[nodiscard]] std::string_view contrast_infer(const FrameType& in, const Parameters&, FrameType& out);

struct StretchRange {
  int lo = 0;
  int hi = 0;  // hi <= lo: the plane stays as it is
};

// The range of the plane `c` (Stretch::each), or of all planes together (Stretch::joint, any c).
// histogram: the counts of the image, of any number of bins.
[[nodiscard]] StretchRange stretch_range(const Histogram<Host>& histogram,
                                         const ContrastParameters& parameters, int c);

// The range of each colour plane, a StretchRange each. histogram: the counts of the whole image.
[[nodiscard]] std::int64_t stretch_ranges_bytes(const FrameType& in, const Parameters& parameters);
void stretch_ranges(const StageCall<Host>& call, const Band& band);
CudaStatus stretch_ranges_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus stretch_ranges_way_cuda(const StageCall<Device>& call, const CudaLaunch& launch, Clusters way);

// in, out: planar, same size, samples of type `to`; histogram: the counts of the whole image `in`. Alpha is
// there where the samples' type changes, and is converted (kernels/depth).
void contrast_reference(const StageCall<Host>& call);

// The same in SIMD; table: what stretch_ranges() wrote.
void contrast_cpu(const StageCall<Host>& call, const Band& band);

// The same on a CUDA device, of 8 bits by the histogram, of 16 by the table.
CudaStatus contrast_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus contrast16_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
