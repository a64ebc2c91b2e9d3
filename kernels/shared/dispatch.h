// Dispatch of a stage's function to the best instruction set of the processor. For files that use Highway.
#pragma once

#include "kernels/stage_call.h"

// After a file's last target (HWY_ONCE): defines NAME_cpu(call, band), which calls the best NAME_rows().
#define IMGPIPE_DISPATCH(name)                                     \
  namespace imgpipe {                                              \
  HWY_EXPORT(name##_rows);                                         \
  void name##_cpu(const StageCall<Host>& call, const Band& band) { \
    HWY_DYNAMIC_DISPATCH(name##_rows)(call, band);                 \
  }                                                                \
  }
