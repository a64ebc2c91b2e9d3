// For the end of a function that answers in every case of a switch over an enumeration.
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
