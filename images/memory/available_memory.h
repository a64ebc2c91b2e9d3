// How much memory this process may still take, and which limit says so.
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
  std::string source;  // printable: "the machine", "cgroup v2 memory.max (FOLDER)", "SLURM_MEM_PER_NODE"
  std::int64_t limit_bytes = 0;      // the machine's memory, or the limit as it is set
  std::int64_t available_bytes = 0;  // what is left of it, 0 or more
};

// Everything that bounds the memory of this process:
// - the machine: MemAvailable of /proc/meminfo;
// - of each control group that it is in and of every parent, limit - (usage - inactive_file - active_file):
//   page cache counts as used, but goes when memory is needed. Limits are memory.max and memory.high of
//   version 2 (above memory.high a process is not killed but made to sleep, so that it hardly gets on: no
//   place for images), memory.limit_in_bytes and hierarchical_memory_limit of version 1. Swap is not counted,
//   neither as a limit nor as room: images that are swapped are slower than those that wait;
// - SLURM_MEM_PER_NODE, or SLURM_MEM_PER_CPU times SLURM_CPUS_ON_NODE (sbatch(1): megabytes, as --mem and
//   --mem-per-cpu give them; 0 is all there is), less what is resident of this process. Not every Slurm makes
//   control groups of them;
// - RLIMIT_AS and RLIMIT_DATA (`ulimit -v`, `-d`), less what is mapped.
// A file or variable that is missing, unreadable or no number is no limit.
class AvailableMemory {
 public:
  using Clock = std::chrono::steady_clock;

  // Finds the control groups, once: a process that is moved to another one keeps to these.
  explicit AvailableMemory(SystemView view = {});

  // As it is now, the tightest bound first; may be empty. Any thread.
  [[nodiscard]] std::vector<MemoryBound> bounds() const;

  // The least of bounds(), read now; the largest number where there are none.
  [[nodiscard]] std::int64_t bytes(Clock::time_point now = Clock::now());

  // The same for who wants so many: a reading of the last 100 ms will do where it is enough, so that nothing
  // is refused because of what was freed since. Takes no lock; threads that find it too old each read.
  [[nodiscard]] std::int64_t bytes_for(std::int64_t wanted, Clock::time_point now = Clock::now());

 private:
  SystemView view_;
  std::vector<ControlGroup> groups_;
  std::atomic<std::int64_t> last_bytes_{0};
  std::atomic<Clock::rep> read_at_{std::numeric_limits<Clock::rep>::min()};
};

// Of this system and process: bounds(), bytes() and bytes_for().
[[nodiscard]] std::vector<MemoryBound> memory_bounds();
[[nodiscard]] std::int64_t available_memory_bytes();
[[nodiscard]] std::int64_t available_memory_bytes_for(std::int64_t wanted);

// What this process has of memory now: itself, its libraries, what it has taken. 0 where it cannot be told.
[[nodiscard]] std::int64_t resident_bytes();

// Throws Error(memory) where so many bytes are not available; what the block pool keeps counts as available,
// since it is given back before more is taken. Small amounts pass without a look.
void check_available(std::int64_t bytes);

}  // namespace imgpipe
