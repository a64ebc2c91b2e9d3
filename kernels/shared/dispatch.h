// From a stage's function to that of the instruction set that the processor has. For files in Highway.
#pragma once

#include "kernels/stage_call.h"

// Behind a file's last target (HWY_ONCE): NAME_cpu(call, band) is the NAME_rows(call, band) of the best one.
#define IMGPIPE_DISPATCH(name)                                     \
  namespace imgpipe {                                              \
  HWY_EXPORT(name##_rows);                                         \
  void name##_cpu(const StageCall<Host>& call, const Band& band) { \
    HWY_DYNAMIC_DISPATCH(name##_rows)(call, band);                 \
  }                                                                \
  }
