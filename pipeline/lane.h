// A device in a batch: images go in, decoded or as their files have them, and come out finished, as pixels or
// encoded; several groups of them are on their way at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "images/error.h"
#include "images/image.h"
#include "pipeline/coded_image.h"
#include "pipeline/engine.h"
#include "pipeline/plan.h"
#include "pipeline/timeline.h"

namespace imgpipe {

// An image on its way through a lane.
struct LaneImage {
  Plan plan;
  Timeline timeline;
  Image source;                // decoded, of shape plan.input; or, where coded.jpeg is set, empty
  CodedImage coded;            // what the lane is to decode and encode itself, and what it made
  Image pixels;                // finished, of shape plan.output; the lane makes it where it makes no file
  std::optional<Error> error;  // its own fault: there is no result
  bool alone = false;          // goes into no group any more: one that it was in had too little memory
};

// The most that goes into one launch: so many images, of so many pixels together; one by itself may have
// more.
struct LaneLoad {
  std::size_t images = 1;
  std::int64_t pixels = 0;
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
  // Groups of images that can be on their way at once, and what is one.
  [[nodiscard]] virtual std::size_t slots() const = 0;
  [[nodiscard]] virtual LaneLoad most() const { return {}; }
  // Whether it decodes and encodes (LaneImage::coded).
  [[nodiscard]] virtual bool has_codecs() const { return false; }
  // Makes the device ready, which may take a while. Throws Error(device).
  virtual void start() = 0;
  // Queues all of these images' work on a slot that is free: what runs it goes on alone. They stay where they
  // are until finish(). Throws Error(memory) when the device has no room (the slot is then free still),
  // Error(device) when it is of no more use.
  virtual void launch(std::size_t slot, std::span<LaneImage* const> images) = 0;
  // Waits for the images of a slot; results and timelines are then complete, but for images with an error,
  // and for those whose coded.in_order is not. Throws as launch().
  virtual void finish(std::size_t slot, std::span<LaneImage* const> images) = 0;
  // Frees what idle slots keep for the next image. Only while none is on its way.
  virtual void release_memory() = 0;
  // An engine for images that do not fit into the device: it takes them in bands of rows, which `threads`
  // read and encode. Only while no image is on its way; the lane outlives it.
  [[nodiscard]] virtual std::unique_ptr<Engine> make_band_engine(int threads) = 0;

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
