// A device in a batch: decoded images go in, finished ones come out, several on their way at the same time.
#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "images/image.h"
#include "pipeline/plan.h"
#include "pipeline/timeline.h"

namespace imgpipe {

// An image on its way through a lane.
struct LaneImage {
  Plan plan;
  Timeline timeline;
  Image source;  // decoded, of shape plan.input
  Image pixels;  // finished, of shape plan.output; the lane makes it
};

// Two threads of a batch use a lane: one starts it and launches, the other finishes.
class Lane {
 public:
  virtual ~Lane() = default;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // As --device takes it: "cuda:0".
  [[nodiscard]] virtual std::string name() const = 0;
  // Of the processor; known after start().
  [[nodiscard]] virtual std::string device_name() const = 0;
  // Images that can be on their way at once.
  [[nodiscard]] virtual std::size_t slots() const = 0;
  // Makes the device ready, which may take a while. Throws Error(device).
  virtual void start() = 0;
  // Queues all of an image's work on a slot that is free: what runs it goes on alone. `image` stays where it
  // is until finish(). Throws Error(memory) when the device has no room (the slot is then free still),
  // Error(device) when it is of no more use.
  virtual void launch(std::size_t slot, LaneImage& image) = 0;
  // Waits for the image of a slot; result and timeline are then complete. Throws as launch().
  virtual void finish(std::size_t slot, LaneImage& image) = 0;
  // Frees what idle slots keep for the next image. Only while none is on its way.
  virtual void release_memory() = 0;

 protected:
  Lane() = default;
};

// Where the sources of CUDA lanes should lie: memory that can be filled before there is a device, and is
// pinned when it goes up. At most `idle_bytes` of what nothing uses are kept. In a build without CUDA:
// ordinary memory.
[[nodiscard]] std::shared_ptr<std::pmr::memory_resource> make_lane_memory(std::int64_t idle_bytes);

// A lane for each of these CUDA devices, all with the memory that make_lane_memory() gave. Each slot has its
// own stream and device memory, so that upload, stages and download of neighbours overlap; completion is
// waited for by events. In a build without CUDA: throws Error(device).
[[nodiscard]] std::vector<std::unique_ptr<Lane>> make_cuda_lanes(
    std::span<const int> devices, std::size_t slots,
    const std::shared_ptr<std::pmr::memory_resource>& memory);

}  // namespace imgpipe
