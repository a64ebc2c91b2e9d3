// How a chain cuts its image into bands, and what memory one of them takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pipeline/host/bands.h"

namespace imgpipe {

struct BandLayout {
  std::vector<std::int64_t> reach_after;  // by link: rows around a band that the links behind it need
  std::size_t last_pixels = 0;            // one past the last link that writes pixels
  bool strips = false;                    // bands are the writer's strips
  std::int64_t rows = 1;                  // of a band
};

// Of `links` over rows of `source`, which end in `writer` where there is one.
[[nodiscard]] BandLayout band_layout(const Shape& source, const std::vector<ChainLink>& links,
                                     const Writer* writer, int threads);

// The frame that link `i` writes a band into, where that is no part of a whole image.
[[nodiscard]] FrameType band_frame(const ChainLink& link, const BandLayout& layout, std::size_t i);

// Whether the rows that a reader gives go straight into the image that the chain leaves behind.
[[nodiscard]] inline bool decodes_in_place(const BandLayout& layout, bool to_image) {
  return layout.last_pixels == 0 && to_image;
}

// What one band holds on its way, encoding included. `decoded`: its rows come from a reader. `to_image`: the
// chain leaves an image behind.
[[nodiscard]] std::int64_t band_bytes(const Shape& source, const std::vector<ChainLink>& links,
                                      const BandLayout& layout, bool decoded, bool to_image);

}  // namespace imgpipe
