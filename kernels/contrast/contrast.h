// Contrast stretch: the values between lo and hi spread over 0..255 (Gonzalez and Woods, Digital Image
// Processing, 3.2.4). lo and hi come from the histogram: the first bin from either end at which the
// count of pixels from that end exceeds the clipped share.
#pragma once

#include "kernels/stage.h"

namespace imgpipe {

struct StretchRange {
  int lo = 0;
  int hi = 0;  // hi <= lo: the plane stays as it is
};

// The range of the plane `c` (Stretch::each), or of all planes together (Stretch::joint, any c).
// histogram: the kBins x planes counts of the image.
[[nodiscard]] StretchRange stretch_range(const Histogram<Host>& histogram, const StageOptions& options,
                                         int c);

// in, out: planar, same shape; histogram: the counts of the whole image `in`.
void contrast_reference(const StageCall<Host>& call);

// The same in SIMD.
void contrast_cpu(const StageCall<Host>& call, const Band& band);

// The same on a CUDA device; lo and hi are found there.
CudaStatus contrast_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
