// The counts of an image's samples, for histograms.
#pragma once

#include "app/report/histogram_file.h"
#include "images/plane.h"

namespace imgpipe {

// Counts the samples of an image's colour planes, plane after plane, by the stages' own reference.
[[nodiscard]] Counts count_image(const ConstHostView& pixels);

}  // namespace imgpipe
