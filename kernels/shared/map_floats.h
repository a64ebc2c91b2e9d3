// Applies a function to each sample of float planes, sequentially; shared by references.
#pragma once

#include "kernels/stage_call.h"

namespace imgpipe {

// Maps the colour planes of a call.
template <class Function>
void map_floats(const StageCall<Host>& call, const Function& function) {
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const Plane<const float, Host> in = call.in.plane<float>(static_cast<std::size_t>(c));
    const Plane<float, Host> out = call.out.plane<float>(static_cast<std::size_t>(c));
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) out.row(y)[x] = function(in.row(y)[x]);
    }
  }
}

}  // namespace imgpipe
