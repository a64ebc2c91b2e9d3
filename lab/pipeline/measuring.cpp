#include "lab/pipeline/measuring.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <utility>

namespace imgpipe {

double LabResult::quantile_us(double share) const {
  if (times_us.empty()) return 0;
  const double position = share * static_cast<double>(times_us.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, times_us.size() - 1);
  return std::lerp(times_us[below], times_us[above], position - static_cast<double>(below));
}

double LabResult::spread() const {
  return median_us() > 0 ? (quantile_us(0.75) - quantile_us(0.25)) / median_us() : 0;
}

LabResult measured(std::string grid, const Verification& verification,
                   const std::function<std::vector<double>()>& time_us) {
  LabResult result;
  result.grid = std::move(grid);
  const bool wrong = !verification.wrong.empty();
  result.detail = wrong ? verification.wrong : verification.right;
  result.status = !wrong                      ? LabStatus::right
                  : verification.may_be_wrong ? LabStatus::wrong_as_claimed
                                              : LabStatus::wrong;
  if (result.status == LabStatus::wrong) return result;
  result.times_us = time_us();
  std::ranges::sort(result.times_us);
  return result;
}

LabResult not_run(std::string why) {
  LabResult result;
  result.detail = std::move(why);
  return result;
}

int runs_within(double budget_us, double run_us, int least, int most) {
  return static_cast<int>(std::clamp(budget_us / std::max(run_us, 0.001), double(least), double(most)));
}

std::vector<double> times_of(const LabOptions& options, const RunRule& rule,
                             const std::function<double()>& timed_run) {
  if (options.is_stopped()) return {};
  double warm_up = 0;
  for (int i = 0; i < rule.warm_ups; ++i) warm_up = timed_run();
  const int least = rule.long_us > 0 && warm_up >= rule.long_us ? 1 : rule.least;
  const int runs =
      options.repeat > 0 ? options.repeat : runs_within(rule.budget_us, warm_up, least, rule.most);
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(runs));
  for (int i = 0; i < runs && !options.is_stopped(); ++i) times.push_back(timed_run());
  return times;
}

std::vector<double> times_by_clock(const LabOptions& options, const RunRule& rule,
                                   const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  return times_of(options, rule, [&] {
    const Clock::time_point start = Clock::now();
    run();
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  });
}

std::string threads_text(int threads) {
  return std::to_string(threads) + (threads == 1 ? " thread" : " threads");
}

}  // namespace imgpipe
