#include "images/codecs/jpeg/library_rows.h"

namespace imgpipe {
namespace {

void write_luma(Luma luma, const ConstHostView& rgb, const HostView& grey) {
  const LumaWeights weights = luma_weights(luma);
  const auto* from = reinterpret_cast<const Sample8*>(rgb.row(0));
  auto* const to = reinterpret_cast<Sample8*>(grey.row(0));
  for (std::int64_t x = 0; x < grey.width; ++x, from += 3)
    to[x] = luma_of(weights, from[0], from[1], from[2]);
}

}  // namespace

void LibraryRows::give(std::int64_t first, const HostView& rows, std::int64_t lowest,
                       std::optional<Luma> luma) {
  while (!kept_.empty() && first_buffered_row() < lowest) kept_.pop_front();
  Shape one = library_.header().shape;
  one.height = 1;
  while (next_ < first + rows.height) {
    // If no band needs the last kept row, the next row overwrites it.
    if (next_ > lowest || kept_.empty()) kept_.emplace_back(one);
    library_.read_rows(kept_.back().untyped_view());
    ++next_;
  }
  for (std::int64_t y = 0; y < rows.height; ++y) {
    const Image& row = kept_[static_cast<std::size_t>(first + y - first_buffered_row())];
    if (luma)
      write_luma(*luma, row.untyped_view(), rows.rows(y, 1));
    else
      copy_pixels(row.untyped_view(), rows.rows(y, 1));
  }
}

}  // namespace imgpipe
