#include "images/codecs/jpeg/encoder_check.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "images/codecs/jpeg/jpeg_codec.h"
#include "images/codecs/jpeg/scan_reference.h"
#include "images/image.h"

namespace imgpipe {
namespace {

constexpr std::int64_t kWidth = 37, kHeight = 21;  // several MCUs, partial ones at the edges

// Makes noise: the two extreme values in the upper half, all values in the lower half.
Image test_image(int channels) {
  Image image({kWidth, kHeight, channels});
  std::uint32_t noise = 1;
  for (std::int64_t y = 0; y < kHeight; ++y) {
    for (std::int64_t i = 0; i < kWidth * channels; ++i) {
      noise = noise * 1664525 + 1013904223;  // Numerical Recipes
      const auto value = static_cast<Sample8>(noise >> 24);
      image.view().row(y)[i] = y < kHeight / 2 ? static_cast<Sample8>(value < 128 ? 0 : kMaxSample) : value;
    }
  }
  return image;
}

bool is_equal(const Image& image, int quality, bool subsampled_chroma) {
  EncodeOptions options;
  options.quality = quality;
  const std::unique_ptr<Writer> by_rows = make_jpeg_writer(image.shape(), options);
  by_rows->write_rows(image.untyped_view());
  const std::unique_ptr<Writer> by_scan = make_jpeg_writer(image.shape(), options);
  by_scan->give_scan(encode_scan_reference(image.view(), quality, subsampled_chroma));
  return by_rows->finish().joined() == by_scan->finish().joined();
}

bool check(int channels, bool subsampled_chroma) noexcept {
  try {
    const Image image = test_image(channels);
    // Qualities at which the writer produces a scan of this kind.
    const auto qualities = channels == 1       ? std::array{100, 90, 50}
                           : subsampled_chroma ? std::array{90, 75, 25}
                                               : std::array{100, 95, 91};
    for (const int quality : qualities) {
      if (!is_equal(image, quality, subsampled_chroma)) return false;
    }
    return true;
  } catch (const std::exception&) {
    return false;  // fall back to the library
  }
}

}  // namespace

bool library_encodes_identically(int channels, bool subsampled_chroma) noexcept {
  struct Answer {
    std::once_flag asked;
    bool alike = false;
  };
  static std::array<Answer, 3> answers;
  Answer& answer = answers[channels == 1 ? 0 : subsampled_chroma ? 1 : 2];
  std::call_once(answer.asked, [&] { answer.alike = check(channels, subsampled_chroma); });
  return answer.alike;
}

}  // namespace imgpipe
