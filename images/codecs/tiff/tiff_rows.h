// Converts unpacked rows of a TIFF's chunks to rows of pixels: bits to samples, colours to grey or RGB.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "images/codecs/tiff/tiff_page.h"

namespace imgpipe {

// Returns the shape of the page's pixels: u8, or u16 for samples of more than 8 bits if `max_bits` is 16.
[[nodiscard]] Shape tiff_shape(const TiffPage& page, int max_bits);

class TiffRows {
 public:
  // `page` must outlive it.
  TiffRows(const TiffPage& page, Shape shape);

  // Returns the number of samples in `line` for convert(): a row of a cell, plus, with a predictor, an
  // unpredicted row of a chunk.
  [[nodiscard]] static std::int64_t line_samples(const TiffPage& page) {
    return page.cell_width * (page.samples + (page.predicted ? page.samples_in_chunk() : 0));
  }

  // Converts the first `pixels` pixels of a cell's row. `rows`: the stored row of each plane. `line`: scratch
  // memory.
  void convert(std::span<const std::byte* const> rows, std::int64_t pixels, std::uint16_t* line,
               std::byte* out) const;

 private:
  template <class T>
  void convert_to(const std::uint16_t* line, std::int64_t pixels, T* out) const;
  template <class T>
  [[nodiscard]] T scaled(std::uint32_t value) const;
  void undo_prediction(const std::byte* row, std::int64_t pixels, std::byte* out) const;
  void unpack(const std::byte* row, std::int64_t count, int step, std::uint16_t* out) const;

  const TiffPage& page_;
  Shape shape_;
  bool plain_ = false;    // the samples are the pixels
  bool swapped_ = false;  // 16 bits in the other byte order
  std::vector<std::array<std::uint8_t, 3>> palette_;
};

}  // namespace imgpipe
