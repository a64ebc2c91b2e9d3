// The golden values: tests/golden/*.json, written by oracle.py, which shares no code with the C++.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "images/plane.h"

namespace imgpipe::test {

// The result of a list of --stages on an image.
struct GoldenResult {
  std::string stages;
  std::int64_t width = 0, height = 0;
  Sample sample = Sample::u8;
  std::vector<std::vector<int>> planes;  // by channel; samples row after row, floats as their bits
};

struct GoldenImage {
  std::string name;
  std::int64_t width = 0, height = 0;
  int channels = 1;
  Sample sample = Sample::u8;
  std::vector<int> samples;                        // interleaved
  std::vector<std::vector<std::uint64_t>> counts;  // by channel and value
  std::vector<GoldenResult> results;
};

[[nodiscard]] const std::vector<GoldenImage>& golden_images();

// The result of a step on a larger image, whose sample of channel c at (x, y) is the low bits of 37 x + 91 y
// + 13 x y + 59 c; for 16-bit samples, this is first multiplied by 40503.
struct GoldenDigests {
  Shape pattern;
  std::string stages;
  std::int64_t width = 0, height = 0;
  Sample sample = Sample::u8;
  std::vector<std::uint32_t> digests;  // by channel: FNV-1a of the samples
};

[[nodiscard]] std::vector<GoldenDigests> golden_digests();

// Returns the steps with which the tests run a stage, as --stages accepts them ("smooth:gauss:reflect").
// Empty for a stage without a golden file.
[[nodiscard]] std::vector<std::string> golden_cases(std::string_view stage);

}  // namespace imgpipe::test
