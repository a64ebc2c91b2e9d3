#include "pipeline/host/band_layout.h"

#include <algorithm>

namespace imgpipe {
namespace {

// Bytes of the widest row that a band holds, over all its rows: half of a core's second cache of today, so
// that a stage finds what the one before it wrote. 8773x5352 RGB on a 2-core Xeon with 2 MiB a core: 256 KiB
// and 1 MiB cost 2 to 5 % more.
constexpr std::int64_t kBandBytes = std::int64_t{1} << 19;
// JPEG gives rows in groups of 8 or 16, and every band of a chain that smooths makes 4 rows twice.
constexpr std::int64_t kBandRowsMultiple = 16;
constexpr std::int64_t kMostBandBytes = std::int64_t{8} << 20;  // very wide rows are not grouped

std::int64_t band_rows(const Shape& source, const std::vector<ChainLink>& links, int threads) {
  std::int64_t row_bytes = source.width * source.channels;
  for (const ChainLink& link : links) row_bytes = std::max(row_bytes, link.out.width * link.out.channels());
  // Small images: something to do for every thread.
  const std::int64_t share = std::max<std::int64_t>(1, source.height / (std::int64_t{2} * threads));
  const std::int64_t rows =
      std::clamp<std::int64_t>(share, 1, std::max<std::int64_t>(1, kBandBytes / row_bytes));
  const std::int64_t whole = (rows + kBandRowsMultiple - 1) / kBandRowsMultiple * kBandRowsMultiple;
  return whole * row_bytes <= kMostBandBytes ? whole : rows;
}

}  // namespace

BandLayout band_layout(const Shape& source, const std::vector<ChainLink>& links, const Writer* writer,
                       int threads) {
  BandLayout layout;
  layout.reach_after.resize(links.size());
  std::int64_t reach = 0;
  for (std::size_t i = links.size(); i-- > 0;) {
    layout.reach_after[i] = reach;
    reach += links[i].stage->reach;
    if (writes_pixels(links[i].stage->writes)) layout.last_pixels = std::max(layout.last_pixels, i + 1);
  }
  layout.strips = writer != nullptr && writer->strip_rows() > 0;
  layout.rows = layout.strips ? writer->strip_rows() : band_rows(source, links, threads);
  return layout;
}

FrameType band_frame(const ChainLink& link, const BandLayout& layout, std::size_t i) {
  FrameType shape = link.out;
  shape.height = std::min(link.out.height, layout.rows + 2 * layout.reach_after[i]);
  if (!link.stage->moves_alpha) shape.alpha = false;
  return shape;
}

std::int64_t band_bytes(const Shape& source, const std::vector<ChainLink>& links, const BandLayout& layout,
                        bool decoded, bool to_image) {
  std::int64_t bytes = 0;
  if (decoded && !decodes_in_place(layout, to_image))
    bytes += source.width * std::min(layout.rows, source.height) * source.channels;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (!writes_pixels(links[i].stage->writes) || (to_image && i + 1 == layout.last_pixels)) continue;
    const FrameType frame = band_frame(links[i], layout, i);
    bytes += frame.pixels() * frame.channels();
  }
  return bytes;
}

}  // namespace imgpipe
