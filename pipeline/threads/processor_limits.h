// The number of processors that this process may use, and the sources that limit it: the default of --threads
// and --jobs.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <sched.h>

#include "images/memory/control_groups.h"

namespace imgpipe {

struct ProcessorLimit {
  std::string source;     // printable: "the machine", "affinity", "cgroup v2 cpu.max (DIRECTORY)"
  double processors = 1;  // a quota may be fractional
};

// The interface of sched_getaffinity(2) for this process: returns 0, or -1 with errno.
using AffinityReader = std::function<int(std::size_t bytes, cpu_set_t* set)>;

// Returns the processors in this process's affinity mask, which a cpuset also limits; at least 1. Handles
// masks larger than the 1,024 processors of a cpu_set_t.
[[nodiscard]] int processors_by_affinity(const AffinityReader& read = {});

// Returns the limits on processors, the least first, never empty:
// - the given machine and affinity mask;
// - the quota of each control group of this process and of every parent: cpu.max of version 2,
//   cpu.cfs_quota_us / cpu.cfs_period_us of version 1. Weights (cpu.shares, cpu.weight) are not limits;
// - SLURM_CPUS_PER_TASK within a step (srun(1)): without Slurm's affinity, each task of a node would use all
//   of it. In the batch script itself, the job's processors are available.
//
// Missing, unreadable or non-numeric values are ignored.
[[nodiscard]] std::vector<ProcessorLimit> processor_limits(int of_machine, int by_affinity,
                                                           const SystemView& view = {});

// Returns the number of threads for the smallest limit, rounded up: 1.5 processors keep two threads busy.
[[nodiscard]] int threads_for(const std::vector<ProcessorLimit>& limits);

}  // namespace imgpipe
