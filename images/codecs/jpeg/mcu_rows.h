// The MCU rows that begun bands need: their state, and the memory for their samples.
//
// Each band walks down its rows once, so the time for an image is proportional to its MCU rows, however it is
// divided into bands. The reader calls every member under its mutex.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace imgpipe {

// MCU rows first..end-1.
struct McuRange {
  std::int64_t first = 0, end = 0;
};

using McuSamples = std::unique_ptr<std::uint8_t[]>;

class McuRows {
 public:
  // The progress of one band. A row's state changes from pending to in work to ready, and never back.
  struct Walk {
    McuRange needs;
    std::int64_t pending = needs.first;  // no row above it is pending
    std::int64_t ready = needs.first;    // all rows above it are ready
  };

  // Bands begin in order: no later one needs a row above `lowest`.
  [[nodiscard]] Walk begin(const McuRange& needs, std::int64_t lowest) {
    if (needs.end > end()) rows_.resize(static_cast<std::size_t>(needs.end - first_));
    for (std::int64_t row = needs.first; row < needs.end; ++row) ++at(row).bands;
    const std::int64_t lowest_before = std::exchange(lowest_, std::max(lowest_, lowest));
    for (std::int64_t row = std::max(lowest_before, first_); row < std::min(lowest_, end()); ++row)
      release_unneeded(row);
    drop_front();
    return {.needs = needs};
  }

  void end(const Walk& walk) {
    for (std::int64_t row = walk.needs.first; row < walk.needs.end; ++row) {
      --at(row).bands;
      release_unneeded(row);
    }
    drop_front();
  }

  [[nodiscard]] bool are_ready(Walk& walk) {
    while (walk.ready < walk.needs.end && at(walk.ready).state == State::ready) ++walk.ready;
    return walk.ready == walk.needs.end;
  }

  // Finds the walk's next pending row with a number below `known`, and marks it as in work. Returns false if
  // there is none.
  [[nodiscard]] bool take_pending(Walk& walk, std::int64_t known, std::int64_t& row) {
    const std::int64_t end = std::min(walk.needs.end, known);
    while (walk.pending < end && at(walk.pending).state != State::pending) ++walk.pending;
    if (walk.pending >= end) return false;
    row = walk.pending++;
    at(row).state = State::in_work;
    return true;
  }

  // Returns the memory of a row that is no longer needed, or nullptr.
  [[nodiscard]] McuSamples take_free_samples() {
    if (free_.empty()) return nullptr;
    McuSamples samples = std::move(free_.back());
    free_.pop_back();
    return samples;
  }
  void clear_free_samples() { free_.clear(); }

  void set_ready(std::int64_t row, McuSamples samples) {
    at(row).samples = std::move(samples);
    at(row).state = State::ready;
  }
  [[nodiscard]] std::uint8_t* samples(std::int64_t row) { return at(row).samples.get(); }

  // Row accesses so far.
  [[nodiscard]] std::int64_t steps() const noexcept { return steps_; }

 private:
  enum class State { pending, in_work, ready };
  struct Row {
    State state = State::pending;
    int bands = 0;  // begun bands that still need it
    McuSamples samples;
  };

  [[nodiscard]] std::int64_t end() const { return first_ + static_cast<std::int64_t>(rows_.size()); }
  [[nodiscard]] Row& at(std::int64_t row) {
    ++steps_;
    return rows_[static_cast<std::size_t>(row - first_)];
  }
  void release_unneeded(std::int64_t row) {
    Row& one = at(row);
    if (row < lowest_ && one.bands == 0 && one.samples) free_.push_back(std::move(one.samples));
  }
  void drop_front() {
    while (first_ < lowest_ && !rows_.empty() && rows_.front().bands == 0) {
      rows_.pop_front();
      ++first_;
    }
  }

  std::deque<Row> rows_;
  std::int64_t first_ = 0;   // number of the front row
  std::int64_t lowest_ = 0;  // first row that a band not begun yet may need
  std::vector<McuSamples> free_;
  std::int64_t steps_ = 0;
};

}  // namespace imgpipe
