// Contrast stretch: spreads the values between lo and hi over all values of the output's samples (Gonzalez
// and Woods, Digital Image Processing, 3.2.4). lo and hi come from the histogram: the first bin from either
// end at which the count of pixels from that end exceeds the clipped share.
#pragma once

#include "kernels/shared/stretch.h"
#include "kernels/stage_call.h"

namespace imgpipe {

[[nodiscard]] bool contrast_sums_planes(const Parameters& parameters);  // Stretch::joint
// The output differs only in its sample type, which a parameter sets.
[[nodiscard]] std::string_view contrast_infer(const FrameType& in, const Parameters&, FrameType& out);

struct StretchRange {
  int lo = 0;
  int hi = 0;  // hi <= lo: the plane is not stretched
};

// Returns the range of plane `c` (Stretch::each), or of all planes together (Stretch::joint, any c).
// histogram: the counts of the image, with any number of bins.
[[nodiscard]] StretchRange stretch_range(const Histogram<Host>& histogram,
                                         const ContrastParameters& parameters, int c);

// A table with a StretchRange for each colour plane. histogram: the counts of the whole image.
[[nodiscard]] std::int64_t stretch_ranges_bytes(const FrameType& in, const Parameters& parameters);
void stretch_ranges(const StageCall<Host>& call, const Band& band);
CudaStatus stretch_ranges_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus stretch_ranges_clusters_cuda(const StageCall<Device>& call, const CudaLaunch& launch,
                                        Clusters method);

// in, out: planar, same size; `out` has the sample type of the parameter `to`. histogram: the counts of the
// whole image `in`. If the sample type changes, the frames contain alpha, which is converted (kernels/depth).
void contrast_reference(const StageCall<Host>& call);

// The same in SIMD; table: the output of stretch_ranges().
void contrast_cpu(const StageCall<Host>& call, const Band& band);

// The same on a CUDA device. contrast_cuda() handles 8 bits and reads the histogram; contrast16_cuda()
// handles 16-bit input or output and reads the table.
CudaStatus contrast_cuda(const StageCall<Device>& call, const CudaLaunch& launch);
CudaStatus contrast16_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
