// The lock of the data that forked processes use too.
#pragma once

#include <mutex>

namespace imgpipe {

// Guards the plans of arrays, constant tables and device warnings, each for less than a microsecond. It is
// one mutex for all, so that the handlers of pthread_atfork(3) can hold it: a forked process lacks the
// threads that held locks of the parent.
[[nodiscard]] inline std::mutex& fork_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace imgpipe
