// How the ladders' tables name what they run.
#pragma once

#include "kernels/lab/rung.h"

#ifdef IMGPIPE_WITH_CUDA
#define IMGPIPE_CUDA_RUNG(function) function
#else
#define IMGPIPE_CUDA_RUNG(function) nullptr
#endif

namespace imgpipe {

// A stage's sequential reference as a rung: the first share does it all.
template <void (*Reference)(const StageCall<Host>&)>
void run_alone(const StageCall<Host>& call, const Share& share) {
  if (share.index == 0) Reference(call);
}

// A stage's SIMD version as a rung: each share a band of rows, all equally many but for one.
template <void (*Cpu)(const StageCall<Host>&, const Band&)>
void run_band(const StageCall<Host>& call, const Share& share) {
  const std::int64_t height = call.in.shape.height;
  Cpu(call, {height * share.index / share.count, height * (share.index + 1) / share.count, 0, 0});
}

}  // namespace imgpipe
