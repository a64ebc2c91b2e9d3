// A list of steps, an image and a way to run them: against the reference, and made smaller where it differs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "images/image.h"
#include "pipeline/engine.h"

namespace imgpipe::test {

// The types of samples that chains are tried with, the simplest first.
inline constexpr std::array kTrialSamples{Sample::u8, Sample::u16};

// bands: of a device whose memory and functions are the host's (HostBandDevice).
enum class TrialEngine : std::uint8_t { cpu, bands, cuda };

struct Trial {
  std::vector<std::string> steps;  // as --stages takes each
  // The image: a content (tests/support/images.h) of a shape and a seed, of which a rectangle is used.
  Shape made{1, 1, 1};
  std::string content = "noise";
  std::uint64_t seed = 0;
  std::int64_t x = 0, y = 0, width = 1, height = 1;

  TrialEngine engine = TrialEngine::cpu;
  int threads = 1;
  std::int64_t strip_rows = 0;    // of the writer: the engine's bands. 0: it writes row by row
  std::int64_t device_bytes = 0;  // of a device; 0: no limit. Four times as many where they are too few
  bool fuse = false;
  bool keep = false;  // the source and every step's output, which are compared too
  int repeat = 0;

  [[nodiscard]] std::string list() const;
  [[nodiscard]] Shape shape() const;
  [[nodiscard]] Image image() const;
  [[nodiscard]] Plan plan() const;
  // Every number that the trial consists of.
  [[nodiscard]] std::string text() const;
};

// What the reference makes of the trial's steps and image.
[[nodiscard]] Outcome reference_outcome(const Trial& trial);

// "" where the trial gives what the reference does, else the first difference or the error. Of steps that the
// planner rejects: "".
[[nodiscard]] std::string difference(const Trial& trial, const Outcome& expected);
[[nodiscard]] std::string difference(const Trial& trial);

// The smallest trial found that still differs: fewer steps, presets, a smaller image of fewer channels and
// bits, one thread, no limits.
[[nodiscard]] Trial shrunk(Trial trial);

// The difference, and the command lines that show it; the trial's image becomes a file in a temporary
// directory.
[[nodiscard]] std::string report(const Trial& trial);

}  // namespace imgpipe::test
