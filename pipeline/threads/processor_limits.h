// How many processors this process may use, and which limit says so: the default of --threads and --jobs.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <sched.h>

#include "images/memory/control_groups.h"

namespace imgpipe {

struct ProcessorLimit {
  std::string source;     // printable: "the machine", "affinity", "cgroup v2 cpu.max (FOLDER)"
  double processors = 1;  // a quota may be no whole number
};

// As sched_getaffinity(2) for this process: 0, or -1 with errno.
using AffinityReader = std::function<int(std::size_t bytes, cpu_set_t* set)>;

// The processors of this process's affinity mask, which a cpuset limits too; at least 1. A machine may have
// more than the 1,024 of a cpu_set_t.
[[nodiscard]] int processors_by_affinity(const AffinityReader& read = {});

// What limits the processors, the least first, never empty:
// - the machine and the affinity mask, as they are handed in;
// - the quota of each control group that this process is in and of every parent: cpu.max of version 2,
//   cpu.cfs_quota_us / cpu.cfs_period_us of version 1. Weights (cpu.shares, cpu.weight) are no limit;
// - SLURM_CPUS_PER_TASK within a step (srun(1)): the tasks of a node would else take all of it each, where
//   Slurm is set up without affinity. In the batch script itself the job's processors are its own.
// What is missing, unreadable or no number is no limit.
[[nodiscard]] std::vector<ProcessorLimit> processor_limits(int of_machine, int by_affinity,
                                                           const SystemView& view = {});

// Threads for the least limit, rounded up: 1.5 processors keep two threads busy.
[[nodiscard]] int threads_for(const std::vector<ProcessorLimit>& limits);

}  // namespace imgpipe
