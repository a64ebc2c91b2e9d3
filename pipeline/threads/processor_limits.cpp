#include "pipeline/threads/processor_limits.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>

#include "images/text.h"

namespace imgpipe {
namespace {

struct FreeSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};

// Returns the processors of "QUOTA PERIOD"; nullopt for "max PERIOD" and for -1.
std::optional<double> quotient(const std::optional<std::int64_t>& quota,
                               const std::optional<std::int64_t>& period) {
  if (!quota || !period || *quota == 0 || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<double> quota_of(const ControlGroup& group) {
  if (group.version == 2) {
    const std::string text = read_record(group.directory + "/cpu.max");
    const std::size_t blank = text.find(' ');
    if (blank == std::string::npos) return std::nullopt;
    return quotient(count_in(text), count_in(std::string_view(text).substr(blank + 1)));
  }
  return quotient(count_in(read_record(group.directory + "/cpu.cfs_quota_us")),
                  count_in(read_record(group.directory + "/cpu.cfs_period_us")));
}

}  // namespace

int processors_by_affinity(const AffinityReader& read) {
  constexpr std::size_t kMaxProcessors = 1 << 20;
  for (std::size_t count = CPU_SETSIZE; count <= kMaxProcessors; count *= 2) {
    const std::unique_ptr<cpu_set_t, FreeSet> set(CPU_ALLOC(count));
    if (!set) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(count);
    CPU_ZERO_S(bytes, set.get());
    const int result = read ? read(bytes, set.get()) : ::sched_getaffinity(0, bytes, set.get());
    if (result == 0) return std::max(1, CPU_COUNT_S(bytes, set.get()));
    if (errno != EINVAL) break;  // EINVAL: the kernel's mask is longer
  }
  return 1;
}

std::vector<ProcessorLimit> processor_limits(int of_machine, int by_affinity, const SystemView& view) {
  std::vector<ProcessorLimit> limits{{kMachineSource, static_cast<double>(of_machine)},
                                     {"affinity", static_cast<double>(by_affinity)}};
  for (const ControlGroup& group : control_groups("cpu", view)) {
    const std::string name = group.version == 2 ? "cgroup v2 cpu.max (" : "cgroup v1 cpu.cfs_quota_us (";
    if (const std::optional<double> quota = quota_of(group))
      limits.push_back({name + printable(group.directory) + ")", *quota});
  }
  const char* of_task = view.variable("SLURM_CPUS_PER_TASK");
  if (of_task != nullptr && view.variable("SLURM_STEP_NUM_TASKS") != nullptr) {
    const std::optional<std::int64_t> count = count_in(of_task);
    if (count && *count > 0) limits.push_back({"SLURM_CPUS_PER_TASK", static_cast<double>(*count)});
  }
  std::ranges::stable_sort(limits, {}, &ProcessorLimit::processors);
  return limits;
}

int threads_for(const std::vector<ProcessorLimit>& limits) {
  return limits.empty() ? 1
                        : std::max(1, static_cast<int>(std::ceil(std::min(limits.front().processors, 1e6))));
}

}  // namespace imgpipe
