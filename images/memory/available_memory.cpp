#include "images/memory/available_memory.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

#include "images/error.h"
#include "images/memory/block_pool.h"
#include "images/text.h"

namespace imgpipe {
namespace {

using Bounds = std::vector<MemoryBound>;

constexpr std::chrono::milliseconds kFreshFor{100};
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

void add(Bounds& bounds, std::string source, std::int64_t limit, std::int64_t used) {
  bounds.push_back({std::move(source), limit, std::clamp<std::int64_t>(limit - used, 0, limit)});
}

// Returns `unit * value`, saturating.
std::int64_t times(std::int64_t value, std::int64_t unit) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(value, unit, &product) ? kMost : product;
}

void add_machine(const SystemView& view, Bounds& bounds) {
  const std::string info = read_record(view.root + "/proc/meminfo");
  const std::optional<std::int64_t> available = count_of(info, "MemAvailable");
  if (!available) return;
  const std::int64_t total = times(count_of(info, "MemTotal").value_or(*available), 1024);
  bounds.push_back({kMachineSource, total, times(*available, 1024)});
}

std::optional<std::int64_t> count_in_file(const ControlGroup& group, const char* name) {
  return count_in(read_record(group.directory + "/" + name));
}

// Returns the memory of the group that the kernel cannot reclaim at once.
std::optional<std::int64_t> used_by(const ControlGroup& group, const std::string& stat) {
  const std::optional<std::int64_t> usage =
      count_in_file(group, group.version == 2 ? "memory.current" : "memory.usage_in_bytes");
  if (!usage) return std::nullopt;
  std::int64_t cache = 0;
  for (const char* list : {"inactive_file", "active_file"}) {
    // Version 1 counts the groups below only in the "total_" lines.
    std::optional<std::int64_t> pages;
    if (group.version == 1) pages = count_of(stat, "total_" + std::string(list));
    if (!pages) pages = count_of(stat, list);
    cache += std::min(pages.value_or(0), *usage);
  }
  return std::max<std::int64_t>(0, *usage - cache);
}

void add_group(const ControlGroup& group, Bounds& bounds) {
  struct Limit {
    const char* name;
    std::optional<std::int64_t> bytes;
  };
  const std::string stat = read_record(group.directory + "/memory.stat");
  std::array<Limit, 2> limits;
  if (group.version == 2) {
    limits = {{{"memory.max", count_in_file(group, "memory.max")},
               {"memory.high", count_in_file(group, "memory.high")}}};
  } else {
    // The second limit is the least of all parents, including those that a container does not see.
    limits = {{{"memory.limit_in_bytes", count_in_file(group, "memory.limit_in_bytes")},
               {"hierarchical_memory_limit", count_of(stat, "hierarchical_memory_limit")}}};
  }
  if (limits[0].bytes && limits[1].bytes && *limits[1].bytes >= *limits[0].bytes) limits[1].bytes.reset();
  // Version 1 reports "no limit" as 2^63 less a page.
  const auto unset = [](const Limit& limit) {
    return !limit.bytes || *limit.bytes >= (std::int64_t{1} << 62);
  };
  if (std::ranges::all_of(limits, unset)) return;
  const std::optional<std::int64_t> used = used_by(group, stat);
  if (!used) return;
  for (const Limit& limit : limits) {
    if (unset(limit)) continue;
    add(bounds,
        "cgroup v" + std::to_string(group.version) + " " + limit.name + " (" + printable(group.directory) +
            ")",
        *limit.bytes, *used);
  }
}

// The memory of this process. /proc/self/statm counts pages: size, resident, shared, text, 0, data.
struct ProcessMemory {
  std::int64_t mapped_bytes = 0;
  std::int64_t resident_bytes = 0;
  std::int64_t data_bytes = 0;
};

ProcessMemory process_memory(const SystemView& view) {
  const std::string text = read_record(view.root + "/proc/self/statm");
  std::array<std::int64_t, 6> pages{};
  std::string_view rest = text;
  for (std::int64_t& count : pages) {
    count = count_in(rest).value_or(0);
    const std::size_t blank = rest.find(' ');
    rest = blank == std::string_view::npos ? std::string_view() : rest.substr(blank + 1);
  }
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  return {times(pages[0], page), times(pages[1], page), times(pages[5], page)};
}

// Slurm sets megabytes; a user who sets the variable for srun may write 4G.
std::optional<std::int64_t> slurm_bytes(const SystemView& view, const char* name) {
  const char* text = view.variable(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  std::string digits = text;
  int shift = 20;
  if (const std::size_t unit = std::string_view("KMGT").find(digits.back()); unit != std::string_view::npos) {
    shift = 10 + 10 * static_cast<int>(unit);
    digits.pop_back();
  }
  const std::optional<std::int64_t> value = count_in(digits);
  if (!value || *value == 0) return std::nullopt;
  return times(*value, std::int64_t{1} << shift);
}

void add_slurm(const SystemView& view, std::int64_t resident, Bounds& bounds) {
  if (const std::optional<std::int64_t> node = slurm_bytes(view, "SLURM_MEM_PER_NODE"))
    add(bounds, "SLURM_MEM_PER_NODE", *node, resident);
  if (const std::optional<std::int64_t> each = slurm_bytes(view, "SLURM_MEM_PER_CPU")) {
    const char* text = view.variable("SLURM_CPUS_ON_NODE");
    const std::int64_t processors = text == nullptr ? 0 : count_in(text).value_or(0);
    // Slurm always sets the count; if it is missing, assume one processor, the least a job has.
    add(bounds, "SLURM_MEM_PER_CPU", times(*each, std::max<std::int64_t>(1, processors)), resident);
  }
}

void add_resource_limit(const rlimit& limit, const char* name, std::int64_t used, Bounds& bounds) {
  if (limit.rlim_cur == RLIM_INFINITY) return;
  add(bounds, name, static_cast<std::int64_t>(std::min<rlim_t>(limit.rlim_cur, kMost)), used);
}

AvailableMemory& process_limits() {
  static AvailableMemory memory;
  return memory;
}

// Removes the parents of version 1 without memory.use_hierarchy: they do not count the groups below them.
std::vector<ControlGroup> counting_groups(std::vector<ControlGroup> groups) {
  for (std::size_t i = 1; i < groups.size(); ++i) {
    if (groups[i].version != 1 || count_in_file(groups[i], "memory.use_hierarchy") != 0) continue;
    const auto first = groups.begin() + static_cast<std::ptrdiff_t>(i);
    const auto end =
        std::find_if(first, groups.end(), [](const ControlGroup& group) { return group.version != 1; });
    groups.erase(first, end);
    break;
  }
  return groups;
}

}  // namespace

AvailableMemory::AvailableMemory(SystemView view)
    : view_(std::move(view)), groups_(counting_groups(control_groups("memory", view_))) {}

std::vector<MemoryBound> AvailableMemory::bounds() const {
  Bounds bounds;
  add_machine(view_, bounds);
  for (const ControlGroup& group : groups_) add_group(group, bounds);
  const ProcessMemory own = process_memory(view_);
  add_slurm(view_, own.resident_bytes, bounds);
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0) add_resource_limit(limit, "ulimit -v", own.mapped_bytes, bounds);
  if (::getrlimit(RLIMIT_DATA, &limit) == 0) add_resource_limit(limit, "ulimit -d", own.data_bytes, bounds);
  std::ranges::stable_sort(bounds, {}, &MemoryBound::available_bytes);
  return bounds;
}

std::int64_t AvailableMemory::bytes(Clock::time_point now) {
  const Bounds all = bounds();
  const std::int64_t least = all.empty() ? kMost : all.front().available_bytes;
  last_bytes_.store(least, std::memory_order_relaxed);
  read_at_.store(now.time_since_epoch().count(),
                 std::memory_order_release);  // after the bytes, so it is never newer than they are
  return least;
}

std::int64_t AvailableMemory::bytes_for(std::int64_t wanted, Clock::time_point now) {
  const Clock::rep read_at = read_at_.load(std::memory_order_acquire);
  if (read_at != std::numeric_limits<Clock::rep>::min()) {
    const Clock::duration age = now.time_since_epoch() - Clock::duration(read_at);
    const std::int64_t last = last_bytes_.load(std::memory_order_relaxed);
    if (age < kFreshFor && last >= wanted) return last;
  }
  return bytes(now);
}

std::vector<MemoryBound> memory_bounds() {
  return process_limits().bounds();
}

std::int64_t available_memory_bytes() {
  return process_limits().bytes();
}

std::int64_t available_memory_bytes_for(std::int64_t wanted) {
  return process_limits().bytes_for(wanted);
}

std::int64_t resident_bytes() {
  return process_memory({}).resident_bytes;
}

// Checking would take longer than processing a small image.
void check_available(std::int64_t bytes) {
  constexpr std::int64_t kUncheckedBytes = std::int64_t{16} << 20;
  if (bytes <= kUncheckedBytes) return;
  const std::int64_t kept = block_pool().use().kept;
  const std::int64_t available = available_memory_bytes_for(bytes - kept) + kept;
  if (bytes <= available) return;
  throw Error(ErrorKind::memory, "not enough memory: up to " + std::to_string(bytes) + " bytes needed, " +
                                     std::to_string(available) + " are available");
}

}  // namespace imgpipe
