// The core of the lab, the same for ladders of stages, of codecs and of transfers: a variant is checked, and,
// if it keeps its claim, timed.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace imgpipe {

struct LabOptions {
  int repeat = 0;  // timed runs; 0: as many as fit into a time, at least 3, or 1 where one takes seconds
  int block = 0;   // threads a block, and blocks, where the rung leaves them free; 0: its own
  int blocks = 0;
  // Asked between timed runs, on a CUDA device between batches of queued runs; when it returns true, a rung
  // keeps the times it has and takes no more.
  std::function<bool()> stop{};

  [[nodiscard]] bool is_stopped() const { return stop && stop(); }
};

enum class LabStatus {
  right,
  wrong_as_said,  // Claim::wrong, and it is
  wrong,          // not timed
  not_run         // it needs something that is not there
};

struct LabResult {
  LabStatus status = LabStatus::not_run;
  std::string detail;            // "exact", what differs, or why it was not run
  std::vector<double> times_us;  // of every timed run, ascending
  std::string grid;              // "2 threads", "256 x 1056", "own"

  [[nodiscard]] bool timed() const { return !times_us.empty(); }
  [[nodiscard]] double quantile_us(double share) const;  // linear between neighbours
  [[nodiscard]] double median_us() const { return quantile_us(0.5); }
  // The width of the middle half of the times, as a fraction of the median.
  [[nodiscard]] double spread() const;
};

// The check of a variant's output.
struct Verification {
  std::string wrong;            // what differs; "" where nothing does
  std::string right = "exact";  // the detail of a variant that is right
  bool may_be_wrong = false;    // Claim::wrong
};

// The result of a variant that ran: a wrong one is not timed.
[[nodiscard]] LabResult measured(std::string grid, const Verification& verification,
                                 const std::function<std::vector<double>()>& time_us);
// The result of a variant that did not run.
[[nodiscard]] LabResult not_run(std::string why);

// Returns how many runs of run_us fit budget_us, clamped to least..most.
[[nodiscard]] int runs_within(double budget_us, double run_us, int least, int most);

// How many runs are timed where the options leave it open.
struct RunRule {
  double budget_us = 500'000;
  int least = 3, most = 100;
  int warm_ups = 1;    // the last one decides
  double long_us = 0;  // from here on one run is enough; 0: it never is
};
// Calls timed_run() repeatedly and returns its values; stops early when options.stop returns true.
[[nodiscard]] std::vector<double> times_of(const LabOptions& options, const RunRule& rule,
                                           const std::function<double()>& timed_run);
// The same by the host's clock.
[[nodiscard]] std::vector<double> times_by_clock(const LabOptions& options, const RunRule& rule,
                                                 const std::function<void()>& run);

[[nodiscard]] std::string threads_text(int threads);  // "1 thread", "2 threads"

}  // namespace imgpipe
