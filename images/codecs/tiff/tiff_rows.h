// Converts unpacked rows of a TIFF's chunks to rows of pixels: bits to samples, colours to grey or RGB.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "images/codecs/tiff/tiff_page.h"

namespace imgpipe {

// Returns the shape of the page's pixels. Throws Error(input) if the options do not accept its samples.
[[nodiscard]] Shape tiff_shape(const TiffPage& page, const DecodeOptions& options);

class TiffRows {
 public:
  // `page` must outlive it. Throws like tiff_shape().
  TiffRows(const TiffPage& page, const DecodeOptions& options);

  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  // Whether the four channels are inks (ImageHeader::inks).
  [[nodiscard]] bool inks() const noexcept { return inks_; }

  // Returns the number of 16-bit elements in `line` for convert(): a row of a cell, plus, with a predictor,
  // an unpredicted row of a chunk (two with the floating-point predictor).
  [[nodiscard]] static std::int64_t line_samples(const TiffPage& page) {
    const int chunks = page.float_predicted ? 2 : page.predicted ? 1 : 0;
    return page.cell_width * (row_samples(page) + chunks * page.samples_in_chunk()) *
           (page.bits > 16 ? 2 : 1);
  }

  // Converts the first `pixels` pixels of a cell's row. `rows`: the stored row of each plane. `line`: scratch
  // memory.
  void convert(std::span<const std::byte* const> rows, std::int64_t pixels, std::uint16_t* line,
               std::byte* out) const;

 private:
  // Returns the number of samples per pixel in `line`; three bands may be the same sample.
  [[nodiscard]] static int row_samples(const TiffPage& page) {
    return page.type ? std::max(page.samples, 3) : page.samples;
  }
  template <class T>
  void convert_to(const std::uint16_t* line, std::int64_t pixels, T* out) const;
  template <class T>
  [[nodiscard]] T scaled(std::uint32_t value) const;
  void undo_prediction(const std::byte* row, std::int64_t pixels, std::byte* scratch, std::byte* out) const;
  void convert_typed(std::span<const std::byte* const> rows, std::int64_t pixels, std::byte* line,
                     std::byte* out) const;
  void unpack(const std::byte* row, std::int64_t count, int step, std::uint16_t* out) const;

  const TiffPage& page_;
  Shape shape_;
  bool plain_ = false;  // the samples are the pixels
  bool inks_ = false;
  bool swapped_ = false;                        // 16 or 32 bits in the other byte order
  std::optional<SampleConversion> conversion_;  // of TiffPage::type
  bool gathers_all_ = false;                    // with it: each pixel has its samples in order
  std::vector<std::array<std::uint8_t, 3>> palette_;
};

}  // namespace imgpipe
