#include "kernels/jpeg/encoding.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "kernels/shared/device_layout.h"

namespace imgpipe {
namespace {

// Returns the average number of bits to reserve per block: somewhat more than for uniform noise, whose
// coefficients have the standard deviation `deviation`. The sum assumes coefficients of twice that size, and
// 2 bits (codes of longer runs) for each that is below the quantiser step. Noise takes 0.44 to 0.70 of the
// sum, depending on the quality.
std::uint32_t reserved_block_bits(const QuantizerSteps& steps, const EncodingCodes& codes,
                                  std::uint32_t deviation) {
  constexpr std::uint32_t kMaxDcBits = 22;
  std::uint32_t bits = kMaxDcBits;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const auto size = static_cast<std::size_t>(std::bit_width(2 * deviation / steps[i]));
    bits += std::max<std::uint32_t>(2, size == 0 ? 0 : codes[size] & kCountMask);
  }
  return bits * 3 / 4;
}

std::uint32_t slot_words(const JpegEncodingImage& image, const std::array<QuantizerSteps, 2>& steps) {
  // Standard deviations of uniform noise, of its colour differences, and of means of four of those.
  constexpr std::uint32_t kLuma = 74, kFull = 46, kHalved = 23;
  const std::int32_t blocks = image.scan.blocks_in_mcu;
  const std::int32_t chroma = blocks == 1 ? 0 : 2;
  const std::uint32_t mcu_bits =
      static_cast<std::uint32_t>(blocks - chroma) *
          reserved_block_bits(steps[0], encoding_codes(false), kLuma) +
      static_cast<std::uint32_t>(chroma) *
          reserved_block_bits(steps[1], encoding_codes(true), blocks == 6 ? kHalved : kFull);
  const std::int32_t mcus = std::min(image.mcus_in_run, image.scan.mcus);
  constexpr std::uint32_t kSpareWords = 8;  // enough, because few blocks deviate more
  return (static_cast<std::uint32_t>(mcus) * mcu_bits + 31) / 32 + kSpareWords;
}

JpegEncodingImage image_of(const JpegEncodingTask& task, std::uint32_t first_run) {
  JpegEncodingImage image;
  image.pixels = task.pixels.data;
  image.stride = task.pixels.stride;
  image.scan =
      forward_scan(task.pixels.width, task.pixels.height, task.pixels.channels, task.subsampled_chroma);
  image.mcus_in_run = kRunBlocks / image.scan.blocks_in_mcu;
  image.first_run = first_run;
  image.runs = static_cast<std::uint32_t>((image.scan.mcus + image.mcus_in_run - 1) / image.mcus_in_run);
  const std::array<QuantizerSteps, 2> steps{quantizer_steps(task.quality, false),
                                            quantizer_steps(task.quality, true)};
  for (std::size_t plane = 0; plane < steps.size(); ++plane) {
    for (std::size_t i = 0; i < kBlockSamples; ++i) image.steps[plane][i] = quantizer_step(steps[plane][i]);
  }
  image.slot_words = slot_words(image, steps);
  return image;
}

template <class T>
void put(std::byte* to, std::uint64_t at, std::span<const T> values) {
  std::memcpy(to + at, values.data(), values.size_bytes());
}

}  // namespace

JpegEncoding::JpegEncoding(const std::vector<JpegEncodingTask>& tasks) {
  if (tasks.empty()) return;
  for (const JpegEncodingTask& task : tasks) {
    images_.push_back(image_of(task, group_.runs));
    group_.runs += images_.back().runs;
  }
  group_.images = static_cast<std::uint32_t>(images_.size());
  DeviceLayout layout;
  group_.image = layout.take(images_.size(), sizeof(JpegEncodingImage));
  group_.first_run = layout.take(images_.size(), sizeof(std::uint32_t));
  group_.codes = layout.take(2, sizeof(EncodingCodes));
  memory_.upload_bytes = layout.end();
  group_.run_bits = layout.take(group_.runs, sizeof(std::uint32_t));
  group_.run_stuffed = layout.take(group_.runs, sizeof(std::uint32_t));
  group_.run_first = layout.take(group_.runs, sizeof(std::uint64_t));
  group_.run_out = layout.take(group_.runs, sizeof(std::uint64_t));
  group_.image_bits = layout.take(images_.size(), sizeof(std::uint64_t));
  group_.results = layout.take(images_.size(), sizeof(std::uint64_t));
  for (JpegEncodingImage& image : images_) {
    const std::uint64_t slot_bytes = image.slot_words * sizeof(std::uint32_t);
    image.out_bytes = image.runs * slot_bytes;
    image.slots = layout.take(image.runs, slot_bytes);
    image.out = layout.take(image.runs, slot_bytes);
  }
  memory_.bytes = layout.end();
  memory_.results_offset = group_.results;
  memory_.results_bytes = images_.size() * sizeof(std::uint64_t);
}

void JpegEncoding::write_upload(std::byte* to) const {
  if (images_.empty()) return;
  put<JpegEncodingImage>(to, group_.image, images_);
  std::vector<std::uint32_t> first_runs;
  for (const JpegEncodingImage& image : images_) first_runs.push_back(image.first_run);
  put<std::uint32_t>(to, group_.first_run, first_runs);
  put<PaddedCode>(to, group_.codes, encoding_codes(false));
  put<PaddedCode>(to, group_.codes + sizeof(EncodingCodes), encoding_codes(true));
}

JpegEncoding::Scan JpegEncoding::scan(std::size_t image, const std::byte* results) const {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, results + image * sizeof bytes, sizeof bytes);
  // A size beyond the reserved memory is rejected: the device's results are not trusted.
  if (bytes > images_[image].out_bytes) bytes = 0;
  return {static_cast<std::size_t>(images_[image].out), static_cast<std::size_t>(bytes)};
}

}  // namespace imgpipe
