// The device memory of a group of images that are processed by the same launches.
//
//   |<-------------------- bytes -------------------->|
//   |<-- upload_bytes -->|  work  |<- results_bytes ->|   work
//
// The caller allocates `bytes` on a 256-byte boundary, fills the first upload_bytes from the host, launches,
// and downloads the results. All other bytes are undefined before and after.
#pragma once

#include <cstddef>

namespace imgpipe {

struct GroupMemory {
  std::size_t bytes = 0;
  std::size_t upload_bytes = 0;
  std::size_t results_offset = 0, results_bytes = 0;
};

}  // namespace imgpipe
