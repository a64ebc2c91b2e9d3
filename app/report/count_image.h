// Histograms of images.
#pragma once

#include "app/report/histogram_file.h"
#include "images/plane.h"

namespace imgpipe {

// Counts the samples of an image's colour planes, one plane after another, with the reference implementation.
// `limits`: those of floats.
[[nodiscard]] Counts count_image(const ConstHostView& pixels, const FloatBins& limits = {});

}  // namespace imgpipe
