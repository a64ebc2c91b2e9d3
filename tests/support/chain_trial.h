// A list of steps, an image and settings to run them: compared with the reference, and reduced if it differs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "images/image.h"
#include "pipeline/engine.h"

namespace imgpipe::test {

// The sample types of trials, the simplest first.
inline constexpr std::array kTrialSamples{Sample::u8, Sample::u16};

// bands: a device whose memory and functions are the host's (HostBandDevice).
enum class TrialEngine : std::uint8_t { cpu, bands, cuda };

struct Trial {
  std::vector<std::string> steps;  // each as --stages accepts it
  // The image: a rectangle of a content (tests/support/images.h) with a shape and a seed.
  Shape made{1, 1, 1};
  std::string content = "noise";
  std::uint64_t seed = 0;
  std::int64_t x = 0, y = 0, width = 1, height = 1;

  TrialEngine engine = TrialEngine::cpu;
  int threads = 1;
  std::int64_t strip_rows = 0;    // per strip of the writer; 0: it accepts rows
  std::int64_t device_bytes = 0;  // device memory limit, quadrupled if too low; 0: none
  bool fuse = false;
  bool keep = false;  // also compares the source and every step's output
  int repeat = 0;

  [[nodiscard]] std::string list() const;
  [[nodiscard]] Shape shape() const;
  [[nodiscard]] Image image() const;
  [[nodiscard]] Plan plan() const;
  // Returns every value that defines the trial.
  [[nodiscard]] std::string text() const;
};

// Returns the counts of each hist: those of the list by plane, the planner's as sums over all planes.
[[nodiscard]] std::vector<std::vector<std::uint64_t>> counts_of(const Outcome& outcome);

// Returns the reference's outcome for the trial's steps and image.
[[nodiscard]] Outcome reference_outcome(const Trial& trial);

// Returns the first difference from the reference, or the error. "" if there is none, or if the planner
// rejects the steps.
[[nodiscard]] std::string difference(const Trial& trial, const Outcome& expected);
[[nodiscard]] std::string difference(const Trial& trial);

// Returns the smallest trial found that still differs: fewer steps, presets, a smaller image of fewer
// channels and bits, one thread, no limits.
[[nodiscard]] Trial shrunk(Trial trial);

// Returns the difference and command lines that show it; writes the trial's image to a temporary directory.
[[nodiscard]] std::string report(const Trial& trial);

}  // namespace imgpipe::test
