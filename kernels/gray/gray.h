// Colour to grey: the luma of each pixel by the formula of StageOptions::luma (ITU-R BT.601 or BT.709).
#pragma once

#include "kernels/stage.h"

namespace imgpipe {

// in: interleaved RGB or RGBA; out: planar, one grey plane of the same size and, with RGBA, the alpha plane.
void gray_reference(const StageCall<Host>& call);

}  // namespace imgpipe
