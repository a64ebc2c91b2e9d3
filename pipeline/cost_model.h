// When a device is worth its trouble: what an image costs a worker with and without it, measured here.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>

#include "pipeline/lane.h"

namespace imgpipe {

// A cost that grows with the image: so much each, and so much a pixel.
struct LinearCost {
  double ns_per_image = 0;
  double ns_per_pixel = 0;

  [[nodiscard]] double ns(std::int64_t pixels) const {
    return ns_per_image + ns_per_pixel * static_cast<double>(pixels);
  }
};

// The line through two measurements; a slope or an intercept below zero is taken as zero.
[[nodiscard]] LinearCost line_through(std::int64_t pixels_a, double ns_a, std::int64_t pixels_b, double ns_b);

// An image of so many pixels took so long without and with the lane.
struct CostPoint {
  std::int64_t pixels = 0;
  double host_ns = 0;
  double with_lane_ns = 0;
};

// The size from which on every point is cheaper with the lane, interpolated between the points around it (on
// logarithms); points by rising size. nullopt: the largest is not.
[[nodiscard]] std::optional<std::int64_t> crossing(std::span<const CostPoint> points);

// For RGB JPEG to grey PNG through gray, hist, contrast and smooth.
struct CostModel {
  LinearCost host;       // of a worker's thread that does everything
  LinearCost with_lane;  // of a worker's thread that reads for a lane and makes a file of what comes back
  LinearCost lane;       // from launch to finish
  double lane_start_ns = 0;
  // From so many pixels on an image is cheaper with the lane, whose own time then counts as the worker's: its
  // threads run on the same processors. nullopt: none is.
  std::optional<std::int64_t> lane_pixels;

  // Starting the lane pays when so many pixels, of images beyond lane_pixels, are to come for each of `jobs`
  // workers that then save time together.
  [[nodiscard]] std::int64_t lane_start_pixels(int jobs) const;
  // Whether one image by itself, the lane not yet started, is faster on the lane than on `threads` threads.
  // `passes`: how often the stages run over it.
  [[nodiscard]] bool lane_pays_alone(std::int64_t pixels, int threads, int passes = 1) const;
};

// Whether an image goes faster through a lane in bands than through the host, by an estimate: its stages
// would take `stages_ns` of one thread, `threads` share them, and rows are read and encoded by the host in
// both cases.
[[nodiscard]] bool bands_pay(const LinearCost& lane, std::int64_t pixels, double stages_ns, int threads);

// What was measured on an NVIDIA H200 with 16 virtual processors of its host (2026-11-22): for machines that
// were not measured yet.
[[nodiscard]] CostModel usual_cost_model();

// Measures. Starts the lane, whose slot 0 is used; takes less than a second besides. Sources lie in `memory`.
// Throws Error(device) or Error(memory).
[[nodiscard]] CostModel measure_cost_model(Lane& lane, std::pmr::memory_resource& memory);

}  // namespace imgpipe
