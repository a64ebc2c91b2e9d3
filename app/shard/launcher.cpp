#include "app/shard/launcher.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "images/error.h"
#include "images/text.h"

namespace imgpipe {
namespace {

// Names of the variables with the range of an array; nullptr: none.
struct Range {
  const char* first = nullptr;
  const char* last = nullptr;
  const char* count = nullptr;
  const char* step = nullptr;
};

// Names of the variables in which a launcher passes a process its index; nullptr: none.
struct Launcher {
  const char* index;
  int first = 0;                // the lowest index
  const char* count = nullptr;  // total number, even if only some run
  Range range{};
  const char* no_array = nullptr;                              // the value of `index` outside an array
  bool (*launched)(const Environment& environment) = nullptr;  // nullptr: always
};

[[noreturn]] void refuse(const std::string& reason) {
  throw Error(ErrorKind::usage, "--shard auto: " + reason);
}

constexpr std::int64_t kMaxNumber = 0xffffffff;  // 32 bits; adding two of them does not overflow

// Returns a variable's number, or nullopt if `name` is null or the variable is not set.
std::optional<std::int64_t> number_of(const char* name, const Environment& environment) {
  const std::string text = name == nullptr ? "" : environment(name);
  if (text.empty()) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0 || value > kMaxNumber)
    refuse(std::string(name) + ": expected an index or count, got '" + printable(text) + "'");
  return value;
}

// Returns true in a step started by srun. Batch scripts and salloc's shells are also steps, with numbers
// above SLURM_MAX_NORMAL_STEP_ID, which Slurm writes as negative or not at all.
// sbatch passes on its caller's environment, so a batch script may have the variables of another job's step.
// sbatch itself then sets SLURM_GTIDS (the ranks on this node: 0), SLURM_TASKS_PER_NODE and, with -n,
// SLURM_NTASKS. In a step, these agree with the step's variables, except with --preserve-env.
bool in_slurm_step(const Environment& environment) {
  constexpr std::int64_t kMaxNormalStep = 0xfffffff0;
  const std::string tasks = environment("SLURM_STEP_NUM_TASKS");
  if (tasks.empty() || environment("SLURM_STEP_ID").starts_with('-')) return false;
  if (number_of("SLURM_STEP_ID", environment).value_or(0) > kMaxNormalStep) return false;
  if (environment("SLURM_GTIDS") != "0") return true;
  const auto agrees = [&](const char* of_job, const char* of_step) {
    const std::string value = environment(of_job);
    return value.empty() || value == environment(of_step);
  };
  return agrees("SLURM_NTASKS", "SLURM_STEP_NUM_TASKS") &&
         agrees("SLURM_TASKS_PER_NODE", "SLURM_STEP_TASKS_PER_NODE") &&
         (environment("SLURM_STEP_NUM_NODES") != "1" || tasks == "1");
}

// srun --mpi=pmix also sets PMIX_RANK, in the namespace slurm.pmix.JOB.STEP, and nested launchers inherit it.
// SLURM_PROCID is the same number, but always that of the innermost srun.
bool not_by_pmix_of_slurm(const Environment& environment) {
  return environment("SLURM_STEP_NUM_TASKS").empty() ||
         !environment("PMIX_NAMESPACE").starts_with("slurm.pmix.");
}

// srun --mpi=pmi2 sets PMI_JOBID too. Hydra does not set it, and sets MPI_LOCALRANKID if it inherits one.
bool not_by_pmi_of_slurm(const Environment& environment) {
  return environment("SLURM_STEP_NUM_TASKS").empty() || environment("PMI_JOBID").empty() ||
         !environment("MPI_LOCALRANKID").empty();
}

constexpr std::array kRanks{
    Launcher{.index = "OMPI_COMM_WORLD_RANK", .count = "OMPI_COMM_WORLD_SIZE"},
    Launcher{.index = "PMIX_RANK", .launched = not_by_pmix_of_slurm},
    Launcher{.index = "PMI_RANK", .count = "PMI_SIZE", .launched = not_by_pmi_of_slurm},
    Launcher{.index = "SLURM_PROCID", .count = "SLURM_STEP_NUM_TASKS", .launched = in_slurm_step},
};

// LSB_JOBINDEX_END is not a count: it is 3 for [3] as well as for [1-3].
constexpr std::array kArrays{
    Launcher{.index = "SLURM_ARRAY_TASK_ID",
             .first = 1,
             .range = {"SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_COUNT"}},
    Launcher{.index = "SGE_TASK_ID",
             .first = 1,
             .range = {"SGE_TASK_FIRST", "SGE_TASK_LAST", nullptr, "SGE_TASK_STEPSIZE"},
             .no_array = "undefined"},
    Launcher{.index = "PBS_ARRAY_INDEX", .first = 1},
    Launcher{.index = "PBS_ARRAYID", .first = 1},
    Launcher{.index = "LSB_JOBINDEX", .first = 1, .no_array = "0"},
    Launcher{.index = "AWS_BATCH_JOB_ARRAY_INDEX", .count = "AWS_BATCH_JOB_ARRAY_SIZE"},
    Launcher{.index = "CLOUD_RUN_TASK_INDEX", .count = "CLOUD_RUN_TASK_COUNT"},
    Launcher{.index = "JOB_COMPLETION_INDEX"},
};

bool has_launched(const Launcher& launcher, const Environment& environment) {
  const std::string index = environment(launcher.index);
  if (index.empty() || (launcher.no_array != nullptr && index == launcher.no_array)) return false;
  return launcher.launched == nullptr || launcher.launched(environment);
}

const Launcher* find_rank(const Environment& environment) {
  const auto* const rank = std::ranges::find_if(
      kRanks, [&](const Launcher& launcher) { return has_launched(launcher, environment); });
  return rank == kRanks.end() ? nullptr : rank;
}

// Some schedulers also set another scheduler's variables, for old scripts. Their indices must agree.
const Launcher* find_array(const Environment& environment) {
  const Launcher* array = nullptr;
  for (const Launcher& launcher : kArrays) {
    if (!has_launched(launcher, environment)) continue;
    if (array == nullptr) {
      array = &launcher;
    } else if (environment(array->index) != environment(launcher.index)) {
      refuse(std::string(array->index) + " and " + launcher.index + " differ; use --shard I/N");
    }
  }
  return array;
}

[[noreturn]] void refuse_no_launcher(const Environment& environment) {
  if (!environment("SLURM_JOB_ID").empty())
    refuse(
        "this Slurm job is neither a step nor an array; start imgpipe with srun, or submit an array "
        "(sbatch --array=1-N)");
  std::string names;
  for (const auto& launchers :
       {std::span(kRanks.begin(), kRanks.end()), std::span(kArrays.begin(), kArrays.end())}) {
    for (const Launcher& launcher : launchers)
      names += (names.empty() ? "" : ", ") + std::string(launcher.index);
  }
  refuse("no launcher found in the environment (" + names + "); use --shard I/N");
}

// Returns the launcher's count, or 0 if it has none.
std::int64_t count_of(const Launcher& launcher, const Environment& environment) {
  const std::optional<std::int64_t> reported_count = number_of(launcher.count, environment);
  if (reported_count == 0) refuse(std::string(launcher.count) + ": expected at least 1, got 0");
  return reported_count.value_or(0);
}

// Takes the range of an array if it is certainly the whole array; otherwise throws.
void take_array_range(const Launcher& launcher, LauncherIndex& place, const Environment& environment) {
  const auto first = number_of(launcher.range.first, environment);
  const auto last = number_of(launcher.range.last, environment);
  const auto count = number_of(launcher.range.count, environment);
  const auto step = number_of(launcher.range.step, environment);
  const bool whole = first && last && *first <= 1 && *last >= *first && step.value_or(1) == 1 &&
                     (launcher.range.count == nullptr || count == *last - *first + 1);
  if (!whole)
    refuse(
        place.variable + " is " + std::to_string(place.value) +
        " in an array that has gaps or does not start at 0 or 1, so it may be a rerun; use auto/N with the "
        "total number of parts");
  place.first = *first;
  place.last = *last;
}

[[noreturn]] void refuse_too_many() {
  refuse("expected at most " + std::to_string(kMaxShards) + " parts");
}

void check_range(const LauncherIndex& place) {
  if (place.last - place.first >= kMaxShards) refuse_too_many();
  if (place.value >= place.first && place.value <= place.last) return;
  const bool begins_at_0 = place.value == 0 && place.first == 1;
  refuse(place.variable + ": expected " + std::to_string(place.first) + " to " + std::to_string(place.last) +
         ", got " + std::to_string(place.value) + (begins_at_0 ? "; start the array at 1" : ""));
}

// `count` is the number of parts for this launcher's indices; 0: as reported by the launcher.
LauncherIndex index_from_launcher(const Launcher& launcher, std::int64_t count, int all,
                                  const Environment& environment) {
  LauncherIndex place;
  place.variable = launcher.index;
  place.value = number_of(launcher.index, environment).value_or(0);
  place.first = launcher.first;
  const std::int64_t reported_count = count_of(launcher, environment);
  if (reported_count > 0 && count > 0 && reported_count != count)
    refuse(std::string(launcher.count) + " is " + std::to_string(reported_count) + ", which does not match " +
           std::to_string(all) + " parts");
  if (reported_count > 0 || count > 0) {
    place.last = place.first + std::max(reported_count, count) - 1;
  } else if (launcher.range.first != nullptr) {
    take_array_range(launcher, place, environment);
  } else {
    refuse(place.variable + " is set, but the number of parts is unknown; use " +
           (all > 0 ? "--shard I/N" : "auto/N"));
  }
  check_range(place);
  return place;
}

}  // namespace

Shard shard_from_launchers(int count, const Environment& environment) {
  const Launcher* rank = find_rank(environment);
  const Launcher* array = find_array(environment);
  if (rank == nullptr && array == nullptr) refuse_no_launcher(environment);
  std::vector<LauncherIndex> by;
  std::int64_t ranks = 1;
  std::int64_t rank_index = 0;
  if (rank != nullptr) {
    by.push_back(index_from_launcher(*rank, array == nullptr ? count : 0, count, environment));
    ranks = by.back().last + 1;
    rank_index = by.back().value;
    if (count % ranks != 0)
      refuse(std::string(rank->count) + " is " + std::to_string(ranks) + ", but " + std::to_string(count) +
             " parts is not a multiple of it");
  }
  std::int64_t tasks = 1;
  std::int64_t task_index = 0;
  if (array != nullptr) {
    by.insert(by.begin(), index_from_launcher(*array, count / ranks, count, environment));
    tasks = by.front().last - by.front().first + 1;
    task_index = by.front().value - by.front().first;
  }
  if (tasks * ranks > kMaxShards) refuse_too_many();
  return {static_cast<int>(task_index * ranks + rank_index + 1), static_cast<int>(tasks * ranks),
          std::move(by)};
}

}  // namespace imgpipe
