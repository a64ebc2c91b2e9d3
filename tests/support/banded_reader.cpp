#include "tests/support/banded_reader.h"

#include <algorithm>
#include <chrono>

#include "images/error.h"

namespace imgpipe::test {

bool BandedLog::complete(std::int64_t height) const {
  std::int64_t end = 0;
  for (const Band& band : bands) {
    if (band.reads != 1 || !band.done || band.first > end) return false;
    end = std::max(end, band.first + band.rows);
  }
  return end == height;
}

BandedReader::BandedReader(ConstHostView image, const BandedBehaviour& behaviour, BandedLog& log,
                           Orientation orientation)
    : image_(image), behaviour_(behaviour), log_(log), random_(behaviour.seed) {
  header_.shape = image.shape();
  header_.orientation = orientation;
}

BandedReader::~BandedReader() {
  if (reading_ > 0) fault("gone while it is read from");
}

std::string_view BandedReader::decoder() const noexcept {
  const std::lock_guard lock(mutex_);
  return switched_ ? std::string_view() : "parallel";
}

void BandedReader::read_next_rows(HostView rows) {
  const std::lock_guard lock(mutex_);
  log_.by_rows = true;
  if (!log_.bands.empty()) fault("rows after bands");
  if (next_row_ + rows.height > behaviour_.fails_at || log_.failed) fail();
  copy_pixels(image_.rows(next_row_, rows.height), rows);
  next_row_ += rows.height;
  switched_ = switched_ || next_row_ > behaviour_.switches_at;
}

void BandedReader::begin_next_band(std::int64_t first, std::int64_t rows) {
  {
    const std::lock_guard lock(mutex_);
    if (beginning_) fault("two bands begun at one time");
    if (rows == 0) fault("a band of no rows");
    if (log_.by_rows) fault("bands after rows");
    if (log_.failed) fail();
    beginning_ = true;
  }
  wait_a_while();
  const std::lock_guard lock(mutex_);
  beginning_ = false;
  if (behaviour_.working_bytes > 0 && working_.empty()) working_ = Image({behaviour_.working_bytes, 1, 1});
  if (behaviour_.bytes_a_row > 0) held_.emplace(first, Image({behaviour_.bytes_a_row, rows, 1}));
  log_.bands.push_back({first, rows});
}

void BandedReader::do_read_band(std::int64_t first, HostView rows) {
  const std::size_t band = enter(first, rows.height);
  wait_a_while();
  std::unique_lock lock(mutex_);
  if (behaviour_.waits_for_earlier) {
    changed_.wait(lock, [&] { return log_.failed || earlier_are_done(band); });
  }
  --reading_;
  if (first + rows.height > behaviour_.fails_at || log_.failed) {
    changed_.notify_all();
    fail();
  }
  lock.unlock();
  copy_pixels(image_.rows(first, rows.height), rows);
  lock.lock();
  switched_ = switched_ || first + rows.height > behaviour_.switches_at;
  log_.bands[band].done = true;
  if (const auto held = held_.find(first); held != held_.end()) held_.erase(held);
  if (log_.complete(header_.shape.height)) warnings_ = {"all was read"};
  changed_.notify_all();
}

// Returns the index of the band; records a fault if it was not begun.
std::size_t BandedReader::enter(std::int64_t first, std::int64_t rows) {
  const std::lock_guard lock(mutex_);
  std::size_t band = 0;
  while (band < log_.bands.size() &&
         (log_.bands[band].reads > 0 || log_.bands[band].first != first || log_.bands[band].rows != rows))
    ++band;
  if (band == log_.bands.size()) {
    fault("read a band that was not begun");
    fail();
  }
  ++log_.bands[band].reads;
  log_.threads.push_back(std::this_thread::get_id());
  log_.max_at_once = std::max(log_.max_at_once, ++reading_);
  return band;
}

bool BandedReader::earlier_are_done(std::size_t band) const {
  return std::ranges::all_of(log_.bands.begin(), log_.bands.begin() + static_cast<std::ptrdiff_t>(band),
                             [](const BandedLog::Band& earlier) { return earlier.done; });
}

void BandedReader::wait_a_while() {
  if (behaviour_.seed == 0) return;
  std::uint64_t random = 0;
  {
    const std::lock_guard lock(mutex_);
    random_ = random_ * 6364136223846793005U + 1442695040888963407U;
    random = random_ >> 40U;
  }
  if (random % 3 == 0) std::this_thread::yield();
  if (random % 3 == 1) std::this_thread::sleep_for(std::chrono::microseconds(random % 100));
}

void BandedReader::fail() {
  log_.failed = true;
  throw Error(ErrorKind::input, "row " + std::to_string(behaviour_.fails_at) + " is broken on purpose");
}

}  // namespace imgpipe::test
