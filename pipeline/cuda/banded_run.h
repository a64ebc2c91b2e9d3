// Images that do not fit into a device's memory, or its host's: in bands of rows through a part of it
// (pipeline/devices/device_bands.h).
//
//   slot 1   upload | steps | download            upload | steps | download
//   slot 2          upload | steps | download            upload | ...
//   slot 3                  upload | steps | download
//
// Each slot has a stream and memory of its own, page-locked rows on the host among it. What a chain of steps
// needs of a histogram is counted band by band, added up on the host and brought up before the next chain.
#pragma once

#include <cstdint>
#include <deque>

#include "images/image.h"
#include "pipeline/cuda/device_times.h"
#include "pipeline/engine.h"
#include "pipeline/threads/host_threads.h"

namespace imgpipe {

// Of one device, for one job after the other.
struct BandedDevice {
  int index = 0;
  int multiprocessors = 1;
  PinnedMemory& pinned;
  std::int64_t memory_bytes = 0;  // that may be taken; 0: what is free
};

// Whether a job must go in bands, as far as can be told without a context: it takes more than `memory_bytes`
// of a device (0: any number) as a whole, or more of the host's memory than is available: `host_bytes`.
[[nodiscard]] bool must_go_in_bands(std::int64_t memory_bytes, const Job& job, const Plan& plan,
                                    std::int64_t host_bytes);
// Whether it fits into what is free of the device; and there, encoded by the device, too, by an estimate.
[[nodiscard]] bool fits_as_a_whole(const Context& context, const Job& job, const Plan& plan);
[[nodiscard]] bool can_encode(const Context& context, const Plan& plan, std::int64_t memory_bytes);

// Does a job in bands. `early`: rows that were read before, of `decoded` rows. Throws Error(memory) where not
// even low bands fit.
void run_in_bands(const BandedDevice& device, Context& context, Job& job, Outcome& outcome,
                  HostThreads& threads, std::deque<Image> early, std::int64_t decoded);

}  // namespace imgpipe
