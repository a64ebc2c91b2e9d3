// 16-bit samples of a band through a table of what each value becomes: one by one, since no shuffle looks up
// in so long a table, and gathering is no faster.
#pragma once

#include "kernels/stage_call.h"

namespace imgpipe {

// Plane c. table: 65,536 samples.
inline void look_up_plane16(const StageCall<Host>& call, const Band& band, int c, const Sample16* table) {
  const Plane<const Sample16, Host> in = call.in.plane<Sample16>(static_cast<std::size_t>(c));
  const Plane<Sample16, Host> out = call.out.plane<Sample16>(static_cast<std::size_t>(c));
  for (std::int64_t y = band.first; y < band.end; ++y) {
    const Sample16* from = in.row(y - band.in_top);
    Sample16* to = out.row(y - band.out_top);
    for (std::int64_t x = 0; x < in.width; ++x) to[x] = table[from[x]];
  }
}

}  // namespace imgpipe
