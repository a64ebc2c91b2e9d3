// Marks the end of a function whose switch over an enumeration returns in every case.
#pragma once

#include <cassert>

#include "images/host_device.h"

namespace imgpipe {

// Aborts in debug builds; undefined in others.
[[noreturn]] IMGPIPE_HOST_DEVICE inline void unreachable() {
  assert(false);
  __builtin_unreachable();
}

}  // namespace imgpipe
