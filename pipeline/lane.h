// A device in a batch. It takes images, decoded or as coded data, and returns them finished, as pixels or
// encoded. Several groups of images are in progress at the same time.
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
#include "kernels/layout/dense.h"
#include "pipeline/coded_image.h"
#include "pipeline/engine.h"
#include "pipeline/plan.h"
#include "pipeline/timeline.h"

namespace imgpipe {

struct LaneImage {
  // With one result. Images of a group with the same plan share what the lane derives from it.
  std::shared_ptr<const Plan> plan{};
  Timeline timeline;
  // The decoded image, of shape plan->input, in host memory or in the device's; both empty if coded.jpeg is
  // set.
  Image source;
  View<const std::byte, Device> device_source{};
  CodedImage coded;            // the codec work that the lane does, and its results
  Image pixels;                // finished, of shape plan->output; set if the lane does not encode
  DenseArray device_result{};  // memory of the device that receives the finished image instead of `pixels`
  std::optional<Error> error;  // of this image, which then has no result
  bool alone = false;          // must not be grouped again, because its group ran out of memory
};

// The limits of one launch: images and total pixels. A single image may have more pixels.
struct LaneLoad {
  std::size_t images = 1;
  std::int64_t pixels = 0;
};

// A batch uses a lane from two threads: one calls start() and launch(), the other finish().
class Lane {
 public:
  virtual ~Lane() = default;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // The device's name as for --device: "cuda:0".
  [[nodiscard]] virtual std::string name() const = 0;
  // The name of the processor; known after start().
  [[nodiscard]] virtual std::string device_name() const = 0;
  // The number of groups that can be in progress at once, and the limits of each.
  [[nodiscard]] virtual std::size_t slots() const = 0;
  [[nodiscard]] virtual LaneLoad most() const { return {}; }
  // Whether the lane decodes and encodes (LaneImage::coded).
  [[nodiscard]] virtual bool has_codecs() const { return false; }
  // Initialises the device, which may take a while. Throws Error(device).
  virtual void start() = 0;
  // Queues all work of these images on a free slot, asynchronously. The images must stay valid until
  // finish(). Throws Error(memory) if the device has too little memory (the slot stays free), Error(device)
  // if unusable.
  virtual void launch(std::size_t slot, std::span<LaneImage* const> images) = 0;
  // Waits for the images of a slot. Results and timelines are then complete, except for images with an error
  // or without coded.is_intact. Throws as launch() does.
  virtual void finish(std::size_t slot, std::span<LaneImage* const> images) = 0;
  // Frees the memory that idle slots keep for the next image. No image may be in progress.
  virtual void release_memory() = 0;
  // Without times, which cost a call per image and step, timelines get no spans. The default is with times.
  virtual void keep_times(bool /*kept*/) {}
  // Limits the device memory of all slots together, from the next launch() or band engine on.
  virtual void limit_memory(std::int64_t /*bytes*/) {}
  // Makes an engine for images that do not fit into the device. It processes them in bands of rows, which
  // `threads` threads read and encode. No image may be in progress; the lane must outlive the engine.
  [[nodiscard]] virtual std::unique_ptr<Engine> make_band_engine(int threads) = 0;

 protected:
  Lane() = default;
};

// Returns memory for the sources of CUDA lanes. It can be filled before a device exists, and is pinned on
// upload. Keeps at most `idle_bytes` of unused memory. In a build without CUDA: ordinary memory.
[[nodiscard]] std::shared_ptr<std::pmr::memory_resource> make_lane_memory(std::int64_t idle_bytes);

// Returns memory to the system that make_lane_memory()'s memory keeps for later.
void release_idle(std::pmr::memory_resource& memory);

// Makes a lane for each of these CUDA devices, with memory from make_lane_memory(). Each slot has its own
// stream and device memory, so that uploads, stages and downloads overlap; completion is signalled by events.
// In a build without CUDA: throws Error(device).
[[nodiscard]] std::vector<std::unique_ptr<Lane>> make_cuda_lanes(
    std::span<const int> devices, std::size_t slots,
    const std::shared_ptr<std::pmr::memory_resource>& memory);

}  // namespace imgpipe
