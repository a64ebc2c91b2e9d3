// The core of the lab for all kinds of ladders: checks a variant and, if it keeps its claim, times it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace imgpipe {

struct LabOptions {
  int repeat = 0;  // timed runs; 0: determined by RunRule or QueueRule
  int block = 0;   // threads per block, if the variant leaves it free; 0: the default
  int blocks = 0;  // per grid, likewise
  // Called between timed runs, or on CUDA between batches of queued ones; true ends the variant's runs.
  std::function<bool()> stop{};

  [[nodiscard]] bool is_stopped() const { return stop && stop(); }
};

enum class LabStatus {
  right,
  wrong_as_claimed,  // Claim::wrong, and it is wrong
  wrong,             // not timed
  not_run            // a requirement is not met
};

struct LabResult {
  LabStatus status = LabStatus::not_run;
  std::string detail;            // "exact", the difference, or why it did not run
  std::vector<double> times_us;  // of all timed runs, ascending
  std::string grid;              // "2 threads", "256 x 1056", "own"

  [[nodiscard]] bool timed() const { return !times_us.empty(); }
  [[nodiscard]] double quantile_us(double share) const;  // interpolates linearly
  [[nodiscard]] double median_us() const { return quantile_us(0.5); }
  // The width of the middle half of the times, as a fraction of the median.
  [[nodiscard]] double spread() const;
};

struct Verification {
  std::string wrong;            // the difference; "" if there is none
  std::string right = "exact";  // LabResult::detail if there is none
  bool may_be_wrong = false;    // Claim::wrong
};

// The result of a variant that ran: a wrong one is not timed.
[[nodiscard]] LabResult measured(std::string grid, const Verification& verification,
                                 const std::function<std::vector<double>()>& time_us);
[[nodiscard]] LabResult not_run(std::string why);

// Returns how many runs of run_us fit budget_us, clamped to least..most.
[[nodiscard]] int runs_within(double budget_us, double run_us, int least, int most);

// The number of timed runs, if the options do not set it.
struct RunRule {
  double budget_us = 500'000;
  int least = 3, most = 100;
  int warm_ups = 1;    // the last one's time determines the number of runs
  double long_us = 0;  // if a run takes this long, one is enough; 0: disabled
};
// Calls timed_run() repeatedly and returns its values; stops early when options.stop returns true.
[[nodiscard]] std::vector<double> times_of(const LabOptions& options, const RunRule& rule,
                                           const std::function<double()>& timed_run);
// The same with times of the host's clock.
[[nodiscard]] std::vector<double> times_by_clock(const LabOptions& options, const RunRule& rule,
                                                 const std::function<void()>& run);

[[nodiscard]] std::string threads_text(int threads);  // "1 thread", "2 threads"

}  // namespace imgpipe
