// How often each value occurs in each channel of an image.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "images/plane.h"

namespace imgpipe {

// Of images with so many channels of samples of one type; alpha is a channel like the others.
class SampleCounts {
 public:
  SampleCounts() = default;
  SampleCounts(int channels, Sample sample);

  [[nodiscard]] int channels() const noexcept { return channels_; }
  [[nodiscard]] Sample sample() const noexcept { return sample_; }
  [[nodiscard]] int bins() const noexcept { return imgpipe::bins(sample_); }
  // Of one channel, a count for each value.
  [[nodiscard]] std::span<const std::uint64_t> of(int channel) const;

  // Counts the samples of rows of this type and with these channels.
  void count(const ConstHostView& rows);
  // What was counted elsewhere, of the same type and channels.
  void add(const SampleCounts& other);

  // That one takes, for channels of this type.
  [[nodiscard]] static std::int64_t bytes_of(int channels, Sample sample);

 private:
  int channels_ = 0;
  Sample sample_ = Sample::u8;
  std::vector<std::uint64_t> values_;  // channel after channel
};

}  // namespace imgpipe
