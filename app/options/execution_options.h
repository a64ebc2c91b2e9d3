// What images are processed on, and how many at a time.
#pragma once

#include <cstdint>
#include <string>

namespace imgpipe {

struct ExecutionOptions {
  std::string device = "cpu";
  int threads = 0;                // 0: as many as there are
  int jobs = 0;                   // images at a time; 0: as many as threads
  std::int64_t memory_bytes = 0;  // 0: half of what is available
  bool fail_fast = false;
};

}  // namespace imgpipe
