#include "app/pages/pages_progress.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "app/log.h"

namespace imgpipe {
namespace {

// Returns 0 for a stream, whose length is unknown.
std::size_t count_of(const PageRange& range) {
  const bool is_endless = range.last == std::numeric_limits<std::int64_t>::max();
  return is_endless ? 0 : static_cast<std::size_t>(range.count());
}

std::string_view unit_of(const InputJob& input) {
  return input.page_unit() == std::string_view("band") ? "bands" : "pages";
}

double seconds_since(Timeline::Clock::time_point then) {
  return std::chrono::duration<double>(Timeline::Clock::now() - then).count();
}

}  // namespace

PagesProgress::PagesProgress(const InputJob& input, bool quiet, std::size_t passes,
                             Timeline::Clock::time_point start)
    : input_(input),
      quiet_(quiet),
      passes_(passes),
      start_(start),
      progress_(Progress::style_for_stderr(!quiet)) {
  set_signal_line();
}

void PagesProgress::begin_pass() {
  ++pass_number_;
  pass_start_ = Timeline::Clock::now();
  pass_ = {.total = count_of(input_.range()), .unit = unit_of(input_)};
  if (passes_ > 1) pass_.pass = "pass " + std::to_string(pass_number_) + " of " + std::to_string(passes_);
  show();
}

void PagesProgress::count_page(const ImageHeader& page) {
  if (pass_.done == pass_.total) begin_pass();  // the previous pass is complete, or none has begun
  note_finished_page(page);
}

void PagesProgress::note_written_page() {
  ++written_;
  set_signal_line();
}

void PagesProgress::note_finished_page(const ImageHeader& page) {
  ++pass_.done;
  pass_.pixels += page.shape.pixels();
  show();
}

void PagesProgress::show() {
  if (pass_.total == 1) return;
  pass_.seconds = seconds_since(pass_start_);
  progress_.show(pass_, seconds_since(start_));
}

void PagesProgress::set_signal_line() {
  if (quiet_) return;
  const RunCounts counts{.total = count_of(input_.range()),
                         .done = written_,
                         .seconds = seconds_since(start_),
                         .unit = unit_of(input_)};
  std::string text = "stopped by a signal: " + std::to_string(written_);
  if (counts.total > 0) text += " of " + std::to_string(counts.total);
  text += " " + std::string(counts.unit) + " finished";
  if (input_.makes_stack()) text += "; OUTPUT was not written because it is incomplete";
  const bool has_bar = Progress::style_for_stderr(true) == Progress::Way::bar;
  signal_line_.set((has_bar ? "\r\x1b[K" : "") + summary_line(text, counts));
}

}  // namespace imgpipe
