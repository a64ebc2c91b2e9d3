#include "images/codecs/strip_writer.h"

#include "images/error.h"

namespace imgpipe {

void StripWriter::write_strip(std::int64_t first, ConstHostView rows) {
  if (!is_strip(first) || rows.height != rows_from(first) || rows.width != shape_.width ||
      rows.channels != shape_.channels || rows.sample != shape_.sample)
    throw Error(ErrorKind::usage, "write_strip: the rows are not a strip of the image");
  encode_strip(first, rows);
}

void StripWriter::write_rows(ConstHostView rows) {
  for (std::int64_t y = 0; y < rows.height;) {
    const std::int64_t first = next_row_ - next_row_ % strip_rows_;
    const std::int64_t height = rows_from(first);
    const std::int64_t filled = next_row_ - first;
    const std::int64_t taken = std::min(rows.height - y, height - filled);
    if (taken == height) {
      write_strip(first, rows.rows(y, taken));
    } else {
      if (gathered_.empty()) gathered_ = Image({shape_.width, strip_rows_, shape_.channels, shape_.sample});
      copy_pixels(rows.rows(y, taken), gathered_.untyped_view().rows(filled, taken));
      if (filled + taken == height)
        write_strip(first, std::as_const(gathered_).untyped_view().rows(0, height));
    }
    y += taken;
    next_row_ += taken;
  }
}

}  // namespace imgpipe
