#include "images/codecs/jpeg/baseline_reader.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "images/codecs/jpeg/band_memory.h"
#include "images/codecs/jpeg/jpeg_scan.h"
#include "images/codecs/jpeg/library_rows.h"
#include "images/codecs/jpeg/mcu_rows.h"
#include "images/codecs/jpeg/sample_rows.h"
#include "images/codecs/jpeg/scan_chunks.h"
#include "images/error.h"
#include "images/image.h"

namespace imgpipe {
namespace {

struct Band {
  std::int64_t first = 0, rows = 0;
  McuRows::Walk walk;            // progress through the MCU rows that the band needs
  bool taken_by_reader = false;  // a thread has called read_band() for it
  bool done = false;
};

// mutex_ guards the state that threads share, except chunks_ (scan_chunks.h) and library_rows_.
class BaselineReader final : public Reader {
 public:
  BaselineReader(std::unique_ptr<LibraryJpeg> library, const BaselineScan& scan, std::size_t scan_chunk_bytes)
      : library_(std::move(library)),
        jpeg_{.scan = scan, .tables = {}},
        chunks_(scan_, jpeg_.tables, scan_chunk_bytes),
        layout_(scan_),
        library_rows_(*library_) {
    header_ = library_->header();
  }

  // Returns false for Huffman codes that libjpeg refuses; the library then reads the file.
  [[nodiscard]] bool make_entropy_tables() { return jpeg_.tables.make(scan_); }
  [[nodiscard]] std::unique_ptr<LibraryJpeg> take_library() { return std::move(library_); }

  [[nodiscard]] std::int64_t working_bytes(bool whole) const override {
    if (!has_bands()) return library_->working_bytes(whole);
    // read_rows() reads rows_at_once() rows at a time.
    return library_->working_bytes(whole) + std::int64_t{sizeof(*this)} + band_bytes(rows_at_once());
  }
  [[nodiscard]] std::int64_t library_bytes(bool whole) const override {
    return library_->library_bytes(whole);
  }

  [[nodiscard]] bool has_bands() const noexcept override { return !bands_disabled_; }
  [[nodiscard]] bool has_grey_rows() const noexcept override {
    return !bands_disabled_ && scan_.components == 3;
  }
  // Switches to the library, which buffers only a few rows.
  bool use_less_memory() override {
    if (luma_) return false;
    library_took_over_ = true;
    return !std::exchange(bands_disabled_, true);
  }
  [[nodiscard]] std::int64_t band_bytes(std::int64_t rows) const override {
    // If the library takes over, LibraryRows holds the rows a second time.
    return max_band_bytes(jpeg_, layout_.bytes(), chunks_.max_scan_chunk_bytes(), rows) +
           rows * header_.shape.row_bytes();
  }
  [[nodiscard]] const JpegScan* jpeg_scan() const noexcept override {
    return bands_disabled_ || scan_.scale > 1 ? nullptr : &jpeg_;  // devices make only the whole size
  }
  void check_file_end(std::size_t after_end) override {
    std::string warning = library_->check_data_after_end(scan_.data.subspan(after_end));
    if (!warning.empty()) warnings_ = {std::move(warning)};  // replaces the warning of an earlier call
  }
  [[nodiscard]] std::string_view decoder() const noexcept override {
    return library_took_over_.load(std::memory_order_relaxed) ? std::string_view() : "parallel";
  }

 protected:
  void read_next_rows(HostView rows) override {
    if (bands_disabled_) return library_->read_rows(rows);
    for (std::int64_t y = 0; y < rows.height;) {
      const std::int64_t count = std::min(rows_at_once(), rows.height - y);
      begin_next_band(next_row_, count);
      do_read_band(next_row_, rows.rows(y, count));
      y += count;
      next_row_ += count;
    }
  }

  void finish() override {
    if (bands_disabled_) warnings_ = library_->warnings();
  }
  void begin_next_band(std::int64_t first, std::int64_t rows) override;
  void do_read_band(std::int64_t first, HostView rows) override;

 private:
  using Lock = std::unique_lock<std::mutex>;

  [[nodiscard]] std::int64_t rows_at_once() const { return scan_.mcu_height; }
  [[nodiscard]] std::int64_t blocks_in_row() const { return scan_.mcus_across * scan_.blocks_in_mcu; }
  [[nodiscard]] McuRange needed(std::int64_t first, std::int64_t rows) const {
    if (rows == 0) return {};
    const std::int64_t above = std::max<std::int64_t>(first - scan_.interpolation_rows(), 0);
    const std::int64_t below = std::min(first + rows - 1 + scan_.interpolation_rows(), scan_.height - 1);
    return {above / scan_.mcu_height, below / scan_.mcu_height + 1};
  }

  // ---- called with the lock held; they release it while they work -----------------------------------------

  [[nodiscard]] Band& take_band(std::int64_t first, std::int64_t rows);
  [[nodiscard]] bool reconstruct_one(Lock& lock, Band& band);
  [[nodiscard]] bool decode_one(Lock& lock);
  void join_scan_chunks(Lock& lock);
  void switch_to_library();
  void drop_blocks_of(std::int64_t row);
  void end_band(Band& band);
  void read_with_library(Lock& lock, const Band& band, const HostView& rows);
  void check_end(Lock& lock);
  void read_with_scan_chunks(Lock& lock, Band& band, const HostView& rows);

  std::unique_ptr<LibraryJpeg> library_;
  JpegScan jpeg_;
  const BaselineScan& scan_ = jpeg_.scan;
  ScanChunks chunks_;
  const SampleLayout layout_;
  bool bands_disabled_ = false;
  std::int64_t next_row_ = 0;  // the next row of read_rows()

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Band> bands_;       // begun bands, starting at the first that is not done
  std::size_t open_bands_ = 0;  // bands that are not done
  McuRows mcu_rows_;

  struct Claimed {
    ScanChunkRange range;
    std::shared_ptr<ScanChunk> chunk;  // null until decoded
  };
  std::deque<Claimed> claimed_;  // in scan order, not joined yet
  bool joining_ = false;
  bool end_checked_ = false;
  struct NeededBlocks {
    ConfirmedBlocks blocks;
    std::int64_t rows_left = 0;  // MCU rows that overlap `blocks` and have no samples yet
  };
  std::list<NeededBlocks> blocks_;     // in scan order
  std::int64_t confirmed_blocks_ = 0;  // blocks known from the start of the scan

  std::atomic<bool> library_took_over_{false};
  std::exception_ptr error_;  // the error with which all bands end
  bool library_busy_ = false;
  LibraryRows library_rows_;     // used by one thread at a time, without the lock
  std::int64_t lowest_row_ = 0;  // the first row that a band not begun yet may need
};

void BaselineReader::begin_next_band(std::int64_t first, std::int64_t rows) {
  const Lock lock(mutex_);
  bands_.push_back(
      {.first = first, .rows = rows, .walk = mcu_rows_.begin(needed(first, rows), needed(first, 1).first)});
  ++open_bands_;
  lowest_row_ = first;
}

Band& BaselineReader::take_band(std::int64_t first, std::int64_t rows) {
  const auto band = std::ranges::find_if(bands_, [&](const Band& one) {
    return !one.taken_by_reader && one.first == first && one.rows == rows;
  });
  if (band == bands_.end())
    throw Error(ErrorKind::usage, "read_band: begin_band was not called for this band");
  band->taken_by_reader = true;
  return *band;
}

void BaselineReader::do_read_band(std::int64_t first, HostView rows) {
  Lock lock(mutex_);
  Band& band = take_band(first, rows.height);
  try {
    try {
      read_with_scan_chunks(lock, band, rows);
    } catch (const std::bad_alloc&) {  // the library needs less
      if (!lock.owns_lock()) lock.lock();
      switch_to_library();
      changed_.notify_all();
    }
    if (library_took_over_ && !error_) read_with_library(lock, band, rows);
    if (error_) std::rethrow_exception(error_);
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    if (!error_) error_ = std::current_exception();
    changed_.notify_all();
    throw;
  }
  end_band(band);
}

// Fills the rows, unless the library has taken over or another thread has failed.
void BaselineReader::read_with_scan_chunks(Lock& lock, Band& band, const HostView& rows) {
  const McuRange& needs = band.walk.needs;
  while (!library_took_over_ && !error_ && !mcu_rows_.are_ready(band.walk)) {
    if (reconstruct_one(lock, band)) continue;
    if (confirmed_blocks_ < needs.end * blocks_in_row() && decode_one(lock)) continue;
    changed_.wait(lock);
  }
  if (library_took_over_ || error_) return;
  std::vector<std::uint8_t*> samples;
  for (std::int64_t row = needs.first; row < needs.end; ++row) samples.push_back(mcu_rows_.samples(row));
  lock.unlock();
  layout_.make_rows(band.first, rows, samples, needs.first, luma_);
  lock.lock();
  if (band.first + band.rows == scan_.height) check_end(lock);  // may hand over to the library
}

// Computes the samples of one of the band's MCU rows. Returns false if no pending row has all its blocks.
bool BaselineReader::reconstruct_one(Lock& lock, Band& band) {
  std::int64_t number = 0;
  if (!mcu_rows_.take_pending(band.walk, confirmed_blocks_ / blocks_in_row(), number)) return false;
  McuSamples samples = mcu_rows_.take_free_samples();
  std::vector<ConfirmedBlocks> parts;  // copies, which keep the block lists alive
  const std::int64_t first = number * blocks_in_row();
  const std::int64_t end = first + blocks_in_row();
  for (const NeededBlocks& one : blocks_) {
    if (one.blocks.first < end && one.blocks.end() > first) parts.push_back(one.blocks);
  }
  lock.unlock();
  if (!samples)
    samples = std::make_unique_for_overwrite<std::uint8_t[]>(static_cast<std::size_t>(layout_.bytes()));
  std::vector<BlockRun> runs;
  for (const ConfirmedBlocks& part : parts) {
    const std::int64_t from = std::max(first, part.first);
    runs.push_back(part.run(from, std::min(end, part.end()) - from, from - first));
  }
  layout_.reconstruct(runs, samples.get());
  lock.lock();
  mcu_rows_.set_ready(number, std::move(samples));
  drop_blocks_of(number);
  changed_.notify_all();
  return true;
}

// Drops the blocks whose last MCU row has been reconstructed.
void BaselineReader::drop_blocks_of(std::int64_t row) {
  const std::int64_t first = row * blocks_in_row();
  const std::int64_t end = first + blocks_in_row();
  std::erase_if(blocks_, [&](NeededBlocks& one) {
    return one.blocks.first < end && one.blocks.end() > first && --one.rows_left == 0;
  });
}

// Leaves all remaining rows to the library.
void BaselineReader::switch_to_library() {
  library_took_over_ = true;
  blocks_.clear();
  mcu_rows_.clear_free_samples();
  for (Claimed& one : claimed_) one.chunk.reset();
}

// Decodes the next chunk and joins the chunks that are ready. Returns false if there is none to decode now.
bool BaselineReader::decode_one(Lock& lock) {
  if (claimed_.size() > open_bands_) return false;  // bounds the memory of chunks that wait to be joined
  std::optional<ScanChunkRange> range = chunks_.next();
  if (!range) {
    // The scan has ended, but more blocks are needed.
    if (!claimed_.empty() || joining_) return false;
    switch_to_library();
    changed_.notify_all();
    return true;
  }
  const bool is_true = claimed_.empty() && !joining_;
  if (is_true && range->start == ScanChunkStart::guess) range->start = ScanChunkStart::truth;
  const ConfirmedState truth = is_true ? chunks_.truth() : ConfirmedState();
  claimed_.push_back({.range = *range, .chunk = {}});
  Claimed& mine = claimed_.back();
  lock.unlock();
  std::shared_ptr<ScanChunk> chunk = chunks_.decode(*range, truth);
  lock.lock();
  mine.chunk = std::move(chunk);
  join_scan_chunks(lock);
  return true;
}

// Only one thread joins at a time; the others keep decoding.
void BaselineReader::join_scan_chunks(Lock& lock) {
  if (joining_) return;
  joining_ = true;
  while (!library_took_over_ && !error_ && !claimed_.empty() && claimed_.front().chunk) {
    const std::shared_ptr<ScanChunk> chunk = std::move(claimed_.front().chunk);
    lock.unlock();
    std::vector<ConfirmedBlocks> more;
    const bool is_intact = chunks_.join(chunk, more);
    lock.lock();
    claimed_.pop_front();
    if (!is_intact) switch_to_library();
    for (ConfirmedBlocks& blocks : is_intact ? more : std::vector<ConfirmedBlocks>()) {
      confirmed_blocks_ = blocks.end();
      const std::int64_t rows = (blocks.end() - 1) / blocks_in_row() - blocks.first / blocks_in_row() + 1;
      blocks_.push_back({std::move(blocks), rows});
    }
    changed_.notify_all();
  }
  joining_ = false;
}

// Decodes up to the end of the scan, then checks the end marker and the bytes after it.
void BaselineReader::check_end(Lock& lock) {
  while (!library_took_over_ && !error_) {
    if (end_checked_) return;
    if (!joining_ && chunks_.is_complete()) {
      end_checked_ = true;
      check_file_end(chunks_.after_end());
      return;
    }
    if (!decode_one(lock)) changed_.wait(lock);
  }
}

void BaselineReader::end_band(Band& band) {
  mcu_rows_.end(band.walk);
  band.done = true;
  --open_bands_;
  while (!bands_.empty() && bands_.front().done) bands_.pop_front();
  changed_.notify_all();
}

// ---- decoding by the library: rows in order, one thread at a time ----------------------------------------

// Reads bands in the order in which they were begun. Keeps the rows of begun bands that no thread reads yet.
void BaselineReader::read_with_library(Lock& lock, const Band& band, const HostView& rows) {
  const auto is_next = [&] {
    return &*std::ranges::find_if(bands_, [](const Band& one) { return one.taken_by_reader && !one.done; }) ==
           &band;
  };
  changed_.wait(lock, [&] { return error_ || (!library_busy_ && is_next()); });
  if (error_) return;
  library_busy_ = true;
  std::int64_t lowest = lowest_row_;
  for (const Band& one : bands_) lowest = one.done ? lowest : std::min(lowest, one.first);
  lock.unlock();
  library_rows_.give(band.first, rows, lowest, luma_);
  lock.lock();
  library_busy_ = false;
  if (band.first + band.rows == scan_.height) warnings_ = library_->warnings();
}

}  // namespace

std::unique_ptr<Reader> make_baseline_reader(std::unique_ptr<LibraryJpeg> library,
                                             std::size_t scan_chunk_bytes) {
  const std::optional<BaselineScan> scan = library->baseline();
  if (!scan) return library;
  auto reader = std::make_unique<BaselineReader>(std::move(library), *scan, scan_chunk_bytes);
  if (!reader->make_entropy_tables()) return reader->take_library();
  return reader;
}

}  // namespace imgpipe
