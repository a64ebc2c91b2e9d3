// Which part of a job that is spread over several processes is this process's.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "app/options.h"

namespace imgpipe {

// The value of an environment variable, empty when it is not set.
using Environment = std::function<std::string(const char* name)>;

// "I/N": part I of N, from 1. "auto": what the first of these schedulers that is there says, and "auto/N"
// with its count replaced by N:
//   SLURM_ARRAY_TASK_ID with _MIN, _STEP, _COUNT · SLURM_PROCID of SLURM_STEP_NUM_TASKS or SLURM_NTASKS ·
//   OMPI_COMM_WORLD_RANK of _SIZE · PMI_RANK of PMI_SIZE · JOB_COMPLETION_INDEX (Kubernetes; it names no
//   count)
// Throws Error(usage) when the text, or what the environment holds, makes no part.
[[nodiscard]] Shard parse_shard(const std::string& text, const Environment& environment);

// Whether a name belongs to a shard. Depends on nothing but its bytes: every name is in exactly one of the
// `count` parts, whichever other names there are. FNV-1a, 64 bits (Fowler, Noll, Vo), its bits then mixed by
// the finaliser of splitmix64 (Steele, Lea, Flood 2014).
[[nodiscard]] bool in_shard(std::string_view name, const Shard& shard);

}  // namespace imgpipe
