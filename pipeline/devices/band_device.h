// A device that runs the nodes of a chain on bands of rows, several of them at the same time: what goes up,
// what is worked on and what comes down overlap (pipeline/devices/device_bands.h has the rows).
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

  // What a chain that begins now may take.
  [[nodiscard]] virtual DeviceRoom room() = 0;
  // Host memory that the device copies from and to at full speed. From any thread; outlives the device.
  [[nodiscard]] virtual std::pmr::memory_resource* staging() = 0;

  // Before the first band of a chain: takes memory for `slots` bands at a time and brings the tables up.
  // `bands` stays where it is until the last band is finished. `tables`: in the host's memory. Throws
  // Error(memory) and Error(device), as all here.
  virtual void start(const DeviceBands& bands, std::size_t slots, const BandTables& tables, int pass) = 0;

  // The next two from any thread, for one slot by one at a time.
  //
  // Queues all that is to be done for a band: `inputs` and `outputs` are those of DeviceBands, in its order,
  // in staging memory that stays as it is until finish().
  virtual void begin(std::size_t slot, const BandRows& rows, std::span<const ConstHostView> inputs,
                     std::span<const HostView> outputs) = 0;
  // Waits until the band is done, and adds the spans of what it took.
  virtual void finish(std::size_t slot, std::vector<Span>& spans) = 0;

  // Of a band that is finished: what a node that counts has counted in it. Until the slot's next band.
  [[nodiscard]] virtual const std::uint64_t* counts(std::size_t slot, std::size_t node) const = 0;

  // Waits for all that is queued, whatever became of it: nobody uses staging memory any more.
  virtual void stop() noexcept = 0;

 protected:
  BandDevice() = default;
};

// Bands on their way at one time. One thread too has several: one goes up, one is worked on, one comes down.
[[nodiscard]] constexpr std::size_t device_slots(int threads) {
  return threads <= 1 ? 3 : static_cast<std::size_t>(threads) + 2;
}

}  // namespace imgpipe
