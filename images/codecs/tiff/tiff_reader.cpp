// Reads TIFF 6.0 and BigTIFF. The threads that read bands decompress strips and tiles: each takes the next
// cell of the rows that its band needs. Decompressed pixels stay until no band needs them. Uncompressed rows
// are converted directly from the file.
#include <algorithm>
#include <condition_variable>
#include <exception>
#include <list>
#include <map>
#include <mutex>
#include <utility>

#include "images/codecs/codec_parts.h"
#include "images/codecs/icc.h"
#include "images/codecs/tiff/tiff_chunks.h"
#include "images/codecs/tiff/tiff_codec.h"
#include "images/codecs/tiff/tiff_page.h"
#include "images/codecs/tiff/tiff_rows.h"
#include "images/error.h"

namespace imgpipe {
namespace {

std::int64_t pixel_bytes(const Shape& shape) {
  return shape.channels * bytes_per_sample(shape.sample);
}

// Returns `width` columns of a view from `first` on.
HostView columns(const HostView& view, std::int64_t first, std::int64_t width) {
  return {view.data + first * pixel_bytes(view.shape()),
          {width, view.height, view.channels, view.sample},
          view.stride_bytes};
}

// The pixels of a row of cells while bands need them.
struct CellRow {
  Image pixels;
  std::int64_t next_column = 0;  // of the next cell to decompress
  std::int64_t cells_done = 0;
  int bands = 0;  // begun bands that still need it
  TiffDamage damage;
};

struct Band {
  std::int64_t first = 0, rows = 0;
  bool given = false;  // to a reading thread
};

class TiffReader final : public Reader {
 public:
  TiffReader(Bytes file, const DecodeOptions& options, std::uint64_t directory)
      : file_(file),
        lenient_(options.lenient()),
        memory_(options.memory),
        page_(read_tiff_page(file, directory, options)),
        rows_(page_, options) {
    if (!page_.bands_needed.empty() && !options.colors_only)
      throw Error(ErrorKind::input, "TIFF: " + page_.bands_needed);
    header_.format = Format::tiff;
    header_.shape = rows_.shape();
    header_.inks = rows_.inks();
    header_.bits_per_sample = page_.shown == TiffColor::palette ? 8 : page_.bits;
    if (page_.type) header_.sample_format = format_of(*page_.type);
    header_.orientation = page_.orientation;
    header_.more_images = page_.more_pages;
    if (!page_.profile.empty()) header_.profile = profile_name(page_.profile);
    worker_bytes_ = TiffChunks::working_bytes(file, page_);
  }

  [[nodiscard]] bool has_bands() const noexcept override { return true; }

  [[nodiscard]] std::int64_t working_bytes(bool whole) const override {
    return worker_bytes_ + (whole || is_plain() ? 0 : cell_row_bytes());
  }
  [[nodiscard]] std::int64_t library_bytes(bool) const override { return TiffChunks::library_bytes(page_); }

  // Returns the memory of a worker and of the rows of cells that a band can touch, without the row counted in
  // working_bytes().
  [[nodiscard]] std::int64_t band_bytes(std::int64_t rows) const override {
    if (is_plain()) return worker_bytes_;
    const std::int64_t touched = (rows + page_.cell_height - 2) / page_.cell_height + 1;
    const std::int64_t more = std::min(touched, page_.down - 1);
    return worker_bytes_ + std::max<std::int64_t>(more, 0) * cell_row_bytes();
  }

 protected:
  void read_next_rows(HostView rows) override {
    if (!worker_) worker_ = make_worker();
    for (std::int64_t y = 0; y < rows.height;) {
      const std::int64_t cell_row = next_row_ / page_.cell_height;
      const std::int64_t inside = next_row_ % page_.cell_height;
      const std::int64_t height = page_.image_rows(cell_row);
      const std::int64_t count = std::min(height - inside, rows.height - y);
      const HostView part = rows.rows(y, count);
      if (is_plain()) {
        worker_->decode_rows(next_row_, part);
      } else if (count == height) {
        unpack_cells(cell_row, part);
      } else {
        if (held_.empty()) held_ = Image(cell_row_shape(), memory_);
        const HostView whole = held_.untyped_view().rows(0, height);
        if (inside == 0) unpack_cells(cell_row, whole);
        copy_pixels(ConstHostView(whole).rows(inside, count), part);
      }
      y += count;
      next_row_ += count;
    }
  }

  void finish() override {
    if (!worker_) return;  // read as bands
    held_ = Image();
    if (lenient_ && is_plain()) damage_ = worker_->plain_damage();
    worker_.reset();
    report_damage();
  }

  void begin_next_band(std::int64_t first, std::int64_t rows) override {
    const std::lock_guard lock(mutex_);
    bands_.push_back({first, rows});
    lowest_row_ = first + rows;
    if (is_plain() || rows == 0) return;
    const auto [begin, end] = cell_rows_of(first, rows);
    for (std::int64_t row = begin; row < end; ++row) ++cell_rows_[row].bands;
  }

  void do_read_band(std::int64_t first, HostView rows) override {
    std::unique_lock lock(mutex_);
    const auto band = std::ranges::find_if(
        bands_, [&](const Band& one) { return !one.given && one.first == first && one.rows == rows.height; });
    if (band == bands_.end())
      throw Error(ErrorKind::usage, "read_band: begin_band was not called for this band");
    band->given = true;
    std::unique_ptr<TiffChunks> worker;
    try {
      if (rows.height > 0) read_band_rows(lock, worker, first, rows);
      if (error_) std::rethrow_exception(error_);
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      if (!error_) error_ = std::current_exception();
      changed_.notify_all();
      throw;
    }
    bands_.erase(band);
    keep(std::move(worker));
    if (bands_.empty() && lowest_row_ == header_.shape.height) {
      if (lenient_ && is_plain()) damage_ = TiffChunks(file_, page_, rows_, lenient_).plain_damage();
      idle_.clear();
      cell_rows_.clear();
      spare_pixels_.clear();
      report_damage();
    }
  }

 private:
  using Lock = std::unique_lock<std::mutex>;

  [[nodiscard]] bool is_plain() const noexcept { return is_stored_uncompressed(page_); }
  [[nodiscard]] Shape cell_row_shape() const {
    Shape shape = header_.shape;
    shape.height = std::min(page_.cell_height, shape.height);
    return shape;
  }
  [[nodiscard]] std::int64_t cell_row_bytes() const { return cell_row_shape().bytes(); }
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> cell_rows_of(std::int64_t first,
                                                                   std::int64_t rows) const {
    return {first / page_.cell_height, (first + rows - 1) / page_.cell_height + 1};
  }
  [[nodiscard]] std::unique_ptr<TiffChunks> make_worker() const {
    return std::make_unique<TiffChunks>(file_, page_, rows_, lenient_);
  }

  // Returns the view of a cell in the pixels of its row.
  [[nodiscard]] HostView position(const HostView& cell_row, std::int64_t column) const {
    const std::int64_t first = column * page_.cell_width;
    return columns(cell_row, first, std::min(page_.cell_width, page_.width - first));
  }

  void unpack_cells(std::int64_t cell_row, const HostView& out) {
    for (std::int64_t column = 0; column < page_.across; ++column)
      worker_->decode_cell(cell_row, column, position(out, column), damage_);
  }

  // Called while no band is being read concurrently, or by the last band with the lock held.
  void report_damage() {
    if (damage_.chunks == 0) return;
    warnings_ = {"damaged TIFF: " + std::to_string(damage_.chunks) + (page_.tiled ? " tile" : " strip") +
                 (damage_.chunks == 1 ? "" : "s") + ": " + damage_.reason};
  }

  // ---- bands: called with the lock, which they release while they work ------------------------------------

  void read_band_rows(Lock& lock, std::unique_ptr<TiffChunks>& worker, std::int64_t first, HostView rows) {
    if (!idle_.empty()) {
      worker = std::move(idle_.back());
      idle_.pop_back();
    }
    if (!worker) {
      lock.unlock();
      worker = make_worker();
      lock.lock();
    }
    if (is_plain()) {
      lock.unlock();
      worker->decode_rows(first, rows);
      lock.lock();
      return;
    }
    const auto [begin, end] = cell_rows_of(first, rows.height);
    for (std::int64_t row = begin; row < end && !error_; ++row) {
      CellRow& cells = cell_rows_.at(row);
      wait_for_cells(lock, *worker, row, cells);
      if (error_) return;
      const std::int64_t from = std::max(first, row * page_.cell_height);
      const std::int64_t to = std::min(first + rows.height, (row + 1) * page_.cell_height);
      lock.unlock();
      copy_pixels(std::as_const(cells.pixels).untyped_view().rows(from - row * page_.cell_height, to - from),
                  rows.rows(from - first, to - from));
      lock.lock();
    }
    if (error_) return;
    release_cell_rows(begin, end);
  }

  // Helps to decompress the row's cells, and returns when all are decompressed.
  void wait_for_cells(Lock& lock, TiffChunks& worker, std::int64_t row, CellRow& cells) {
    while (!error_ && cells.cells_done < page_.across) {
      if (cells.next_column == page_.across) {
        changed_.wait(lock);
        continue;
      }
      if (cells.pixels.empty()) cells.pixels = take_pixels();
      const std::int64_t column = cells.next_column++;
      const HostView out = position(cells.pixels.untyped_view().rows(0, page_.image_rows(row)), column);
      lock.unlock();
      TiffDamage damage;
      worker.decode_cell(row, column, out, damage);
      lock.lock();
      cells.damage.add(damage);
      if (++cells.cells_done < page_.across) continue;
      count_damage(row, cells.damage);
      changed_.notify_all();
    }
  }

  // Reuses images, whose pages are already mapped.
  [[nodiscard]] Image take_pixels() {
    if (spare_pixels_.empty()) return Image(cell_row_shape(), memory_);
    Image pixels = std::move(spare_pixels_.back());
    spare_pixels_.pop_back();
    return pixels;
  }

  // Counts each row of cells once, although it may be decompressed again.
  void count_damage(std::int64_t row, const TiffDamage& damage) {
    if (damage.chunks == 0) return;
    is_counted_.resize(static_cast<std::size_t>(page_.down));
    if (!is_counted_[static_cast<std::size_t>(row)]) damage_.add(damage);
    is_counted_[static_cast<std::size_t>(row)] = true;
  }

  // Keeps the worker for reuse; idle and busy workers exceed the begun bands by at most one.
  void keep(std::unique_ptr<TiffChunks> worker) {
    const auto at_work =
        static_cast<std::size_t>(std::ranges::count_if(bands_, [](const Band& one) { return one.given; }));
    if (worker && idle_.size() + at_work <= bands_.size()) idle_.push_back(std::move(worker));
    while (!idle_.empty() && idle_.size() + at_work > bands_.size() + 1) idle_.pop_back();
  }

  // Releases these rows for one band. The last begun row stays, because the next band may begin in it.
  void release_cell_rows(std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) --cell_rows_.at(row).bands;
    const std::int64_t last = (lowest_row_ - 1) / page_.cell_height;
    for (auto one = cell_rows_.begin(); one != cell_rows_.end() && one->first < last;) {
      if (one->second.bands > 0) {
        ++one;
        continue;
      }
      if (!one->second.pixels.empty()) spare_pixels_.push_back(std::move(one->second.pixels));
      one = cell_rows_.erase(one);
    }
  }

  Bytes file_;
  bool lenient_;
  std::pmr::memory_resource* memory_;
  TiffPage page_;
  TiffRows rows_;
  std::int64_t worker_bytes_ = 0;
  // For read_rows():
  std::unique_ptr<TiffChunks> worker_;
  Image held_;  // the row of cells with the next row
  std::int64_t next_row_ = 0;
  // For bands:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Band> bands_;  // begun and not finished
  std::map<std::int64_t, CellRow> cell_rows_;
  std::vector<Image> spare_pixels_;  // pixels of released rows, for reuse; their number
                                     // plus those in use never exceeds the peak in use
  std::vector<std::unique_ptr<TiffChunks>> idle_;
  std::int64_t lowest_row_ = 0;  // end of the last begun band
  std::exception_ptr error_;     // the error that ends all bands
  TiffDamage damage_;
  std::vector<bool> is_counted_;  // rows of cells whose damage is in damage_
};

}  // namespace

std::unique_ptr<Reader> open_tiff_page(Bytes file, const DecodeOptions& options, std::int64_t page) {
  const std::optional<std::uint64_t> directory = tiff_directory_offset(file, page);
  if (!directory) throw Error(ErrorKind::input, "TIFF: page " + std::to_string(page + 1) + " does not exist");
  return std::make_unique<TiffReader>(file, options, *directory);
}

std::unique_ptr<Reader> open_tiff(Bytes file, const DecodeOptions& options) {
  return open_tiff_page(file, options, 0);
}

}  // namespace imgpipe
