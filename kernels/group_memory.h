// Several images in the same launches of a CUDA device: what a group of them needs of device memory.
//
//   |<-------------------- bytes -------------------->|
//   |<-- upload_bytes -->|  work  |<- results_bytes ->|   work
//
// The caller takes `bytes` on a 256-byte boundary, fills the first upload_bytes from the host, launches, and
// brings the results down. What else is in there holds anything before and means nothing after.
#pragma once

#include <cstddef>

namespace imgpipe {

struct GroupMemory {
  std::size_t bytes = 0;
  std::size_t upload_bytes = 0;
  std::size_t results_offset = 0, results_bytes = 0;
};

}  // namespace imgpipe
