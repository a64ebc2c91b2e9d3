#include "app/shard.h"

#include <array>
#include <charconv>
#include <optional>

#include "images/error.h"
#include "images/text.h"

namespace imgpipe {
namespace {

constexpr int kMostShards = 1'000'000;

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

[[noreturn]] void refuse(const std::string& text, const std::string& reason) {
  throw Error(ErrorKind::usage, "--shard: '" + printable(text) + "' " + reason);
}

// How a scheduler tells a process its number, by names of environment variables.
struct Scheduler {
  const char* index;
  const char* first;                  // what the lowest index is; nullptr: 0
  const char* step;                   // between two indices; nullptr: 1
  std::array<const char*, 2> counts;  // the first that is set; nullptr: none
};
constexpr std::array<Scheduler, 5> kSchedulers{{
    {"SLURM_ARRAY_TASK_ID",
     "SLURM_ARRAY_TASK_MIN",
     "SLURM_ARRAY_TASK_STEP",
     {"SLURM_ARRAY_TASK_COUNT", nullptr}},
    {"SLURM_PROCID", nullptr, nullptr, {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}},
    {"OMPI_COMM_WORLD_RANK", nullptr, nullptr, {"OMPI_COMM_WORLD_SIZE", nullptr}},
    {"PMI_RANK", nullptr, nullptr, {"PMI_SIZE", nullptr}},
    {"JOB_COMPLETION_INDEX", nullptr, nullptr, {nullptr, nullptr}},
}};

// A variable's number; `otherwise` when there is no such variable or it is not set.
int number_of(const char* name, int otherwise, const Environment& environment) {
  const std::string text = name == nullptr ? "" : environment(name);
  if (text.empty()) return otherwise;
  const std::optional<int> value = whole_number(text);
  if (!value || *value < 0)
    throw Error(ErrorKind::usage, std::string("--shard auto: ") + name + " is '" + printable(text) + "'");
  return *value;
}

// `count` 0: as the scheduler says.
Shard shard_of_environment(const std::string& text, int count, const Environment& environment) {
  for (const Scheduler& scheduler : kSchedulers) {
    if (environment(scheduler.index).empty()) continue;
    const int step = number_of(scheduler.step, 1, environment);
    const int index = number_of(scheduler.index, 0, environment) - number_of(scheduler.first, 0, environment);
    for (const char* name : scheduler.counts) {
      if (count == 0) count = number_of(name, 0, environment);
    }
    const std::string found = std::string("found ") + scheduler.index + " in the environment, but ";
    if (count == 0) refuse(text, found + "no count: say auto/N");
    if (step < 1 || index < 0 || index % step != 0 || index / step >= count)
      refuse(text, found + "it is not a part of " + std::to_string(count));
    return {index / step + 1, count};
  }
  refuse(text,
         "finds no scheduler in the environment (SLURM_ARRAY_TASK_ID, SLURM_PROCID, "
         "OMPI_COMM_WORLD_RANK, PMI_RANK, JOB_COMPLETION_INDEX)");
}

}  // namespace

Shard parse_shard(const std::string& text, const Environment& environment) {
  const std::size_t slash = text.find('/');
  const std::string_view first = std::string_view(text).substr(0, slash);
  std::optional<int> count;
  if (slash != std::string::npos) count = whole_number(std::string_view(text).substr(slash + 1));
  const bool counted = count && *count >= 1 && *count <= kMostShards;
  if (first == "auto" && (slash == std::string::npos || counted))
    return shard_of_environment(text, count.value_or(0), environment);
  const std::optional<int> index = whole_number(first);
  if (!counted || !index || *index < 1 || *index > *count)
    refuse(text, "is not of the form 3/8 (part 3 of 8, from 1), auto or auto/8");
  return {*index, *count};
}

bool in_shard(std::string_view name, const Shard& shard) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  hash ^= hash >> 31;
  return hash % static_cast<std::uint64_t>(shard.count) == static_cast<std::uint64_t>(shard.index - 1);
}

}  // namespace imgpipe
