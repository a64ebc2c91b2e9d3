// How much memory this process may still allocate, and which limit is the tightest.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "images/memory/control_groups.h"

namespace imgpipe {

struct MemoryBound {
  std::string source;  // printable: "the machine", "cgroup v2 memory.max (DIRECTORY)", "SLURM_MEM_PER_NODE"
  std::int64_t limit_bytes = 0;      // the machine's memory, or the configured limit
  std::int64_t available_bytes = 0;  // the unused part of it, at least 0
};

// All limits on the memory of this process:
// - The machine: MemAvailable of /proc/meminfo.
// - Each control group of the process and every parent: limit - (usage - inactive_file - active_file), since
//   the kernel frees page cache on demand. Limits are memory.max and memory.high of version 2 (above
//   memory.high the kernel throttles a process almost to a halt), memory.limit_in_bytes and
//   hierarchical_memory_limit of version 1. Swap does not count: swapped images are slower than waiting ones.
// - SLURM_MEM_PER_NODE, or SLURM_MEM_PER_CPU times SLURM_CPUS_ON_NODE, less this process's resident memory
//   (sbatch(1): megabytes; 0 means no limit). Not every Slurm installation sets control groups.
// - RLIMIT_AS and RLIMIT_DATA (`ulimit -v`, `-d`), less the mapped memory.
//
// A missing, unreadable or non-numeric file or variable is not a limit.
class AvailableMemory {
 public:
  using Clock = std::chrono::steady_clock;

  // Finds the control groups once; a process that moves to another group later is not followed.
  explicit AvailableMemory(SystemView view = {});

  // Returns the current limits, the tightest first; may be empty. Thread-safe.
  [[nodiscard]] std::vector<MemoryBound> bounds() const;

  // Returns the least of bounds(), read now; the largest number if there are none.
  [[nodiscard]] std::int64_t bytes(Clock::time_point now = Clock::now());

  // Returns the last reading if it is at most 100 ms old and at least `wanted`, else a new one that includes
  // memory freed since then. Takes no lock; concurrent threads may each read anew.
  [[nodiscard]] std::int64_t bytes_for(std::int64_t wanted, Clock::time_point now = Clock::now());

 private:
  SystemView view_;
  std::vector<ControlGroup> groups_;
  std::atomic<std::int64_t> last_bytes_{0};
  std::atomic<Clock::rep> read_at_{std::numeric_limits<Clock::rep>::min()};
};

// Like AvailableMemory's bounds(), bytes() and bytes_for(), for this system and process.
[[nodiscard]] std::vector<MemoryBound> memory_bounds();
[[nodiscard]] std::int64_t available_memory_bytes();
[[nodiscard]] std::int64_t available_memory_bytes_for(std::int64_t wanted);

// Returns the resident memory of this process; 0 if unknown.
[[nodiscard]] std::int64_t resident_bytes();

// Throws Error(memory) if `bytes` are not available. Kept blocks of the pool count as available: the pool
// frees them before it maps more. Amounts up to 16 MiB pass unchecked.
void check_available(std::int64_t bytes);

}  // namespace imgpipe
