// Histograms of images.
#pragma once

#include "app/report/histogram_file.h"
#include "images/plane.h"

namespace imgpipe {

// Counts the samples of an image's colour planes, one plane after another, with the reference implementation.
[[nodiscard]] Counts count_image(const ConstHostView& pixels);

}  // namespace imgpipe
