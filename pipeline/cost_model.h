// Decides when a device pays off, from the measured cost of an image to a worker with and without it.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>

#include "pipeline/lane.h"

namespace imgpipe {

struct LinearCost {
  double ns_per_image = 0;
  double ns_per_pixel = 0;

  [[nodiscard]] double ns(std::int64_t pixels) const {
    return ns_per_image + ns_per_pixel * static_cast<double>(pixels);
  }
};

// Returns the line through two measurements; a negative slope or intercept becomes zero.
[[nodiscard]] LinearCost line_through(std::int64_t pixels_a, double ns_a, std::int64_t pixels_b, double ns_b);

struct CostPoint {
  std::int64_t pixels = 0;
  double host_ns = 0;
  double with_lane_ns = 0;
};

// Returns the size above which every point is cheaper with the lane, interpolated between adjacent points on
// logarithmic scales. `points` must be sorted by size. Returns nullopt if the largest point is not cheaper.
[[nodiscard]] std::optional<std::int64_t> crossing(std::span<const CostPoint> points);

// The costs of converting RGB JPEG to grey PNG through gray, hist, contrast and smooth.
struct CostModel {
  LinearCost host;       // a worker's thread, without a lane
  LinearCost with_lane;  // a worker's thread, which reads for a lane and encodes its results
  LinearCost lane;       // from launch to finish
  double lane_start_ns = 0;
  // The lane is cheaper for images of at least this size, even including the lane's own time, because its
  // threads use the same processors. nullopt: never.
  std::optional<std::int64_t> lane_pixels;

  // The minimum of total pixels, in images of at least lane_pixels, for which starting the lane pays off:
  // each of `jobs` concurrent workers then saves as much time as the start takes.
  [[nodiscard]] std::int64_t lane_start_pixels(int jobs) const;
  // Whether the lane, including its start, is faster than `threads` threads for `passes` passes over one
  // image.
  [[nodiscard]] bool single_image_pays(std::int64_t pixels, int threads, int passes = 1) const;
};

// Estimates whether an image is faster through a lane in bands than on the host. Its stages would take
// `stages_ns` on one thread, and `threads` threads share them. The host reads and encodes rows in both cases.
[[nodiscard]] bool bands_pay(const LinearCost& lane, std::int64_t pixels, double stages_ns, int threads);

// "12.34 MP".
[[nodiscard]] std::string megapixels(std::int64_t pixels);

// Measured on an NVIDIA H200 with 16 virtual processors (2026-11-22); for machines without measurements.
[[nodiscard]] CostModel default_cost_model();

// Measures the cost model. Starts the lane and uses its slot 0; takes less than a second in addition to the
// start. Sources are allocated in `memory`. Throws Error(device) or Error(memory).
[[nodiscard]] CostModel measure_cost_model(Lane& lane, std::pmr::memory_resource& memory);

}  // namespace imgpipe
