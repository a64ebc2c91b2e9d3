// A device that runs the nodes of a chain on several bands concurrently, so that uploads, stages and
// downloads overlap. pipeline/devices/device_bands.h determines the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "images/plane.h"
#include "pipeline/devices/device_bands.h"
#include "pipeline/timeline.h"

namespace imgpipe {

class BandDevice {
 public:
  virtual ~BandDevice() = default;
  BandDevice(const BandDevice&) = delete;
  BandDevice& operator=(const BandDevice&) = delete;

  // Returns the memory that a chain may take if it begins now. All functions throw Error(memory) and
  // Error(device) unless noexcept.
  [[nodiscard]] virtual DeviceCapacity room() = 0;
  // Returns host memory that the device copies from and to at full speed. Thread-safe.
  [[nodiscard]] virtual std::pmr::memory_resource* staging() = 0;

  // Called before the first band of a chain. Takes memory for `slots` bands and uploads `tables`, which are
  // in host memory. `bands` must stay valid until the last band is finished.
  virtual void start(const DeviceBands& bands, std::size_t slots, const BandTables& tables, int pass) = 0;

  // begin() and finish() may be called from any thread, but for each slot by one thread at a time.
  //
  // Queues all work of a band. `inputs` and `outputs` are in the order of DeviceBands, in staging memory,
  // which must stay valid and unchanged until finish().
  virtual void begin(std::size_t slot, const BandRows& rows, std::span<const ConstHostView> inputs,
                     std::span<const HostView> outputs) = 0;
  // Waits until the band is done, and appends its spans.
  virtual void finish(std::size_t slot, std::vector<Span>& spans) = 0;

  // The counters that a node wrote for a finished band. Valid until the slot's next begin().
  [[nodiscard]] virtual const std::uint64_t* counts(std::size_t slot, std::size_t node) const = 0;

  // Waits for all queued work, ignoring errors. Staging memory is then no longer used.
  virtual void stop() noexcept = 0;

 protected:
  BandDevice() = default;
};

// The number of bands in progress. Even a single thread has three: one each for upload, stages and download.
[[nodiscard]] constexpr std::size_t device_slots(int threads) {
  return threads <= 1 ? 3 : static_cast<std::size_t>(threads) + 2;
}

}  // namespace imgpipe
