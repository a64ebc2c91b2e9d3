// Counts how often each value occurs in each channel of an image.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "images/plane.h"

namespace imgpipe {

// The counts of images with equal numbers of channels and sample types; alpha is an ordinary channel.
class SampleCounts {
 public:
  SampleCounts() = default;
  SampleCounts(int channels, Sample sample);

  [[nodiscard]] int channels() const noexcept { return channels_; }
  [[nodiscard]] Sample sample() const noexcept { return sample_; }
  [[nodiscard]] int bins() const noexcept { return imgpipe::bins(sample_); }
  // The counts of one channel, by value.
  [[nodiscard]] std::span<const std::uint64_t> of(int channel) const;

  // Counts rows, which must have this type and number of channels.
  void count(const ConstHostView& rows);
  // Adds counts of the same type and number of channels.
  void add(const SampleCounts& other);

  [[nodiscard]] static std::int64_t bytes_of(int channels, Sample sample);

 private:
  int channels_ = 0;
  Sample sample_ = Sample::u8;
  std::vector<std::uint64_t> values_;  // channel after channel
};

}  // namespace imgpipe
