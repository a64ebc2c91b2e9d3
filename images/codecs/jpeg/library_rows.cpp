#include "images/codecs/jpeg/library_rows.h"

namespace imgpipe {

void LibraryRows::give(std::int64_t first, const HostView& rows, std::int64_t lowest) {
  while (!kept_.empty() && first_buffered_row() < lowest) kept_.pop_front();
  Shape one = rows.shape();
  one.height = 1;
  while (next_ < first + rows.height) {
    // If no band needs the last kept row, the next row overwrites it.
    if (next_ > lowest || kept_.empty()) kept_.emplace_back(one);
    library_.read_rows(kept_.back().untyped_view());
    ++next_;
  }
  for (std::int64_t y = 0; y < rows.height; ++y) {
    const Image& row = kept_[static_cast<std::size_t>(first + y - first_buffered_row())];
    copy_pixels(row.untyped_view(), rows.rows(y, 1));
  }
}

}  // namespace imgpipe
