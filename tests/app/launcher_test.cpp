// --shard auto: which part each process of a job takes, given the environment that its launcher sets.
#include "app/shard/launcher.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "app/shard/shard.h"
#include "images/error.h"
#include "tests/support/launchers.h"

namespace imgpipe::test::launcher_test {
namespace {

Shard shard_of(const std::string& text, const Variables& variables) {
  return parse_shard(text, [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  });
}

// Returns "2/8 by A, B", or why no part is assigned.
std::string part_of(const std::string& text, const Variables& variables) {
  try {
    const Shard shard = shard_of(text, variables);
    std::string part = std::to_string(shard.index) + "/" + std::to_string(shard.count);
    for (const LauncherIndex& index : shard.by)
      part += (&index == shard.by.data() ? " by " : ", ") + index.variable;
    return part;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
}

void expect_refused(const std::string& text, const Variables& variables, const std::string& words) {
  const std::string part = part_of(text, variables);
  EXPECT_TRUE(part.starts_with("--shard")) << "accepted: " << part;
  EXPECT_NE(part.find(words), std::string::npos) << part;
}

struct Case {
  std::string name;
  std::string text;
  Variables variables;
  std::string part;  // or part of the error message
};

// ---- one process -------------------------------------------------------------------------------------

TEST(Launcher, PartFromEachLaunchersVariables) {
  const std::vector<Case> cases{
      {"mpirun", "auto", open_mpi(0, 2), "1/2 by OMPI_COMM_WORLD_RANK"},
      {"mpirun, the count given too", "auto/2", open_mpi(1, 2), "2/2 by OMPI_COMM_WORLD_RANK"},
      {"mpirun of one", "auto", open_mpi(0, 1), "1/1 by OMPI_COMM_WORLD_RANK"},
      {"mpiexec", "auto", hydra(1, 3), "2/3 by PMI_RANK"},
      {"prterun", "auto/3", {{"PMIX_RANK", "2"}, {"PMIX_NAMESPACE", "prterun-a-1@1"}}, "3/3 by PMIX_RANK"},
      {"srun", "auto", srun(2, 3), "3/3 by SLURM_PROCID"},
      {"srun of fewer than the job has", "auto", srun(1, 2, batch_script(4)), "2/2 by SLURM_PROCID"},
      {"srun over nodes", "auto",
       Variables{{"SLURM_GTIDS", "4,5"}, {"SLURM_STEP_NUM_NODES", "3"}} + srun(5, 6), "6/6 by SLURM_PROCID"},
      {"srun over nodes, one on each", "auto",
       Variables{{"SLURM_GTIDS", "0"}, {"SLURM_STEP_NUM_NODES", "4"}} + srun(0, 4), "1/4 by SLURM_PROCID"},
      {"srun --preserve-env", "auto",
       Variables{{"SLURM_NTASKS", "4"}, {"SLURM_TASKS_PER_NODE", "4"}} + srun(0, 2), "1/2 by SLURM_PROCID"},
      {"srun where the users are told to unset SLURM_GTIDS", "auto",
       Variables{{"SLURM_GTIDS", ""}} + srun(3, 4), "4/4 by SLURM_PROCID"},
      {"srun --mpi=pmix", "auto",
       Variables{{"PMIX_RANK", "1"}, {"PMIX_NAMESPACE", "slurm.pmix.70.0"}} + srun(1, 4),
       "2/4 by SLURM_PROCID"},
      {"srun --mpi=pmi2", "auto",
       Variables{{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}, {"PMI_JOBID", "70.0"}} + srun(1, 4),
       "2/4 by SLURM_PROCID"},
      {"array from 1", "auto", array_task(3, 1, 4, 4), "3/4 by SLURM_ARRAY_TASK_ID"},
      {"array from 0", "auto", array_task(3, 0, 3, 4), "4/4 by SLURM_ARRAY_TASK_ID"},
      {"array from 1 with its count", "auto/4", array_task(3, 1, 4, 4), "3/4 by SLURM_ARRAY_TASK_ID"},
      {"AWS",
       "auto",
       {{"AWS_BATCH_JOB_ARRAY_INDEX", "0"}, {"AWS_BATCH_JOB_ARRAY_SIZE", "2"}},
       "1/2 by AWS_BATCH_JOB_ARRAY_INDEX"},
      {"AWS of old", "auto/2", {{"AWS_BATCH_JOB_ARRAY_INDEX", "1"}}, "2/2 by AWS_BATCH_JOB_ARRAY_INDEX"},
      {"PBS", "auto/9", {{"PBS_ARRAY_INDEX", "9"}}, "9/9 by PBS_ARRAY_INDEX"},
      {"Torque", "auto/9", {{"PBS_ARRAYID", "1"}}, "1/9 by PBS_ARRAYID"},
      {"one scheduler by two names",
       "auto/9",
       {{"PBS_ARRAY_INDEX", "9"}, {"PBS_ARRAYID", "9"}},
       "9/9 by PBS_ARRAY_INDEX"},
      {"Grid Engine",
       "auto",
       {{"SGE_TASK_ID", "2"}, {"SGE_TASK_FIRST", "1"}, {"SGE_TASK_LAST", "5"}, {"SGE_TASK_STEPSIZE", "1"}},
       "2/5 by SGE_TASK_ID"},
      {"LSF", "auto/5", {{"LSB_JOBINDEX", "5"}, {"LSB_JOBINDEX_END", "5"}}, "5/5 by LSB_JOBINDEX"},
      {"Cloud Run",
       "auto",
       {{"CLOUD_RUN_TASK_INDEX", "6"}, {"CLOUD_RUN_TASK_COUNT", "7"}},
       "7/7 by CLOUD_RUN_TASK_INDEX"},
      {"Kubernetes", "auto/6", {{"JOB_COMPLETION_INDEX", "5"}}, "6/6 by JOB_COMPLETION_INDEX"},
      {"mpirun in Grid Engine without an array", "auto",
       open_mpi(1, 2, {{"SGE_TASK_ID", "undefined"}, {"SGE_TASK_FIRST", "undefined"}}),
       "2/2 by OMPI_COMM_WORLD_RANK"},
      {"mpirun in LSF without an array", "auto", open_mpi(1, 2, {{"LSB_JOBINDEX", "0"}}),
       "2/2 by OMPI_COMM_WORLD_RANK"},
  };
  for (const Case& c : cases) EXPECT_EQ(part_of(c.text, c.variables), c.part) << c.name;
}

// A launched process also inherits the variables of the launchers around its own.
TEST(Launcher, InnermostRankApplies) {
  const std::vector<Case> cases{
      {"mpirun in a batch script", "auto", open_mpi(3, 4, batch_script(4)), "4/4 by OMPI_COMM_WORLD_RANK"},
      {"mpirun over nodes: its daemons are a step", "auto", open_mpi(3, 4, srun(1, 2)),
       "4/4 by OMPI_COMM_WORLD_RANK"},
      {"mpirun in srun --pty bash", "auto", open_mpi(3, 4, srun(0, 1)), "4/4 by OMPI_COMM_WORLD_RANK"},
      {"mpiexec in a batch script", "auto", hydra(3, 4, batch_script(4)), "4/4 by PMI_RANK"},
      {"mpiexec over nodes: its proxies are a step", "auto", hydra(3, 4, srun(1, 2)), "4/4 by PMI_RANK"},
      {"mpiexec in srun --mpi=pmix --pty bash", "auto", hydra(1, 2, srun(0, 1, kPmix0)), "2/2 by PMI_RANK"},
      {"mpiexec in srun --mpi=pmi2 --pty bash", "auto", hydra(1, 2, srun(0, 1, kPmi0)), "2/2 by PMI_RANK"},
      {"srun in srun --mpi=pmi2 --pty bash", "auto", srun(1, 2, kPmi0), "2/2 by SLURM_PROCID"},
      {"srun in srun --mpi=pmix --pty bash", "auto", srun(1, 2, kPmix0), "2/2 by SLURM_PROCID"},
      {"prterun in srun --mpi=pmi2 --pty bash", "auto/4",
       Variables{{"PMIX_RANK", "3"}, {"PMIX_NAMESPACE", "prterun-a-1@1"}} + srun(0, 1, kPmi0),
       "4/4 by PMIX_RANK"},
  };
  for (const Case& c : cases) EXPECT_EQ(part_of(c.text, c.variables), c.part) << c.name;
}

TEST(Launcher, AutoWithoutALauncherIsAnError) {
  const std::vector<Case> cases{
      {"nothing", "auto", {}, "no launcher found in the environment (OMPI_COMM_WORLD_RANK, PMIX_RANK"},
      {"nothing, a count", "auto/4", {}, "no launcher found"},
      {"a batch script of 4 tasks", "auto", batch_script(4), "start imgpipe with srun"},
      {"a batch script of 4 tasks, a count", "auto/4", batch_script(4), "start imgpipe with srun"},
      {"a batch script of 1 task", "auto", batch_script(1), "start imgpipe with srun"},
      {"the same, newer", "auto", Variables{{"SLURM_STEP_ID", "-5"}} + batch_script(4),
       "start imgpipe with srun"},
      {"a shell of salloc",
       "auto",
       {{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "4"}},
       "start imgpipe with srun"},
      {"a shell of salloc that is a step", "auto", Variables{{"SLURM_STEP_ID", "4294967290"}} + srun(0, 1),
       "start imgpipe with srun"},
      {"the same, newer", "auto", Variables{{"SLURM_STEP_ID", "-6"}} + srun(0, 1), "start imgpipe with srun"},
      {"sbatch -n 4 called in a step of 1", "auto", batch_script(4) + srun(0, 1), "start imgpipe with srun"},
      {"sbatch -N 4 called in a step of 1", "auto",
       Variables{{"SLURM_TASKS_PER_NODE", "1(x4)"}, {"SLURM_GTIDS", "0"}} + srun(0, 1),
       "start imgpipe with srun"},
      {"sbatch -n 4 called in a step of 4", "auto", batch_script(4) + srun(3, 4), "start imgpipe with srun"},
      {"sbatch called in a step of 4", "auto", batch_script(2) + srun(3, 4), "start imgpipe with srun"},
      {"the same, --mpi=pmix", "auto", batch_script(2) + srun(3, 4, kPmix0), "start imgpipe with srun"},
      {"the same, --mpi=pmi2", "auto", batch_script(2) + srun(3, 4, kPmi0), "start imgpipe with srun"},
      {"no array of Grid Engine", "auto", {{"SGE_TASK_ID", "undefined"}}, "no launcher found"},
      {"no array of LSF", "auto/4", {{"LSB_JOBINDEX", "0"}}, "no launcher found"},
      {"empty", "auto", {{"PMI_RANK", ""}, {"PMI_SIZE", "4"}}, "no launcher found"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    expect_refused(c.text, c.variables, c.part);
  }
}

TEST(Launcher, UnknownCountIsAnError) {
  const std::vector<Variables> cases{{{"JOB_COMPLETION_INDEX", "5"}},
                                     {{"PBS_ARRAY_INDEX", "1"}},
                                     {{"PBS_ARRAYID", "1"}},
                                     {{"LSB_JOBINDEX", "3"}, {"LSB_JOBINDEX_END", "3"}},
                                     {{"AWS_BATCH_JOB_ARRAY_INDEX", "1"}},
                                     {{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "prterun-a-1@1"}},
                                     {{"PMI_RANK", "0"}},
                                     {{"OMPI_COMM_WORLD_RANK", "0"}}};
  for (const Variables& variables : cases) expect_refused("auto", variables, "use auto/N");
  // The number of ranks per task is unknown, so the total alone is not enough.
  expect_refused("auto/8", Variables{{"PMIX_RANK", "0"}} + array_task(1, 1, 4, 4), "--shard I/N");
}

// A part of an array that is submitted again looks like an array of its own.
TEST(Launcher, ResubmittedArrayTasks) {
  EXPECT_EQ(part_of("auto/4", array_task(3, 3, 3, 1)), "3/4 by SLURM_ARRAY_TASK_ID");
  EXPECT_EQ(part_of("auto/9", array_task(7, 2, 7, 3)), "7/9 by SLURM_ARRAY_TASK_ID");
  EXPECT_EQ(part_of("auto/9", {{"SGE_TASK_ID", "7"}, {"SGE_TASK_FIRST", "7"}, {"SGE_TASK_LAST", "7"}}),
            "7/9 by SGE_TASK_ID");
  for (const Variables& variables :
       {array_task(3, 3, 3, 1), array_task(5, 2, 7, 3), array_task(3, 2, 4, 3), array_task(1, 1, 3, 2),
        array_task(0, 0, 3, 2), array_task(3, 1, 7, 4, 2), array_task(30, 10, 50, 5, 10),
        Variables{{"SLURM_ARRAY_TASK_ID", "1"}, {"SLURM_ARRAY_TASK_COUNT", "2"}},
        Variables{{"SGE_TASK_ID", "3"}, {"SGE_TASK_FIRST", "3"}, {"SGE_TASK_LAST", "3"}},
        Variables{{"SGE_TASK_ID", "3"},
                  {"SGE_TASK_FIRST", "1"},
                  {"SGE_TASK_LAST", "5"},
                  {"SGE_TASK_STEPSIZE", "2"}}})
    expect_refused("auto", variables, "use auto/N");
}

TEST(Launcher, IndexIsUsedUnchangedWithACount) {
  expect_refused("auto/4", array_task(0, 0, 3, 4), ": expected 1 to 4, got 0; start the array at 1");
  expect_refused("auto/4", array_task(5, 1, 8, 8), "expected 1 to 4, got 5");
  expect_refused("auto/4", {{"PBS_ARRAY_INDEX", "0"}}, "start the array at 1");
  expect_refused("auto/5", {{"JOB_COMPLETION_INDEX", "5"}}, "expected 0 to 4, got 5");
  expect_refused("auto/4", {{"LSB_JOBINDEX", "5"}}, "expected 1 to 4, got");
  // Counts that contradict the launcher's.
  expect_refused("auto/6", open_mpi(0, 4), "OMPI_COMM_WORLD_SIZE is 4");
  expect_refused("auto/2", srun(0, 4), "SLURM_STEP_NUM_TASKS is 4");
  expect_refused("auto/3", {{"AWS_BATCH_JOB_ARRAY_INDEX", "0"}, {"AWS_BATCH_JOB_ARRAY_SIZE", "2"}},
                 "_SIZE is 2");
}

TEST(Launcher, InvalidPartsAreErrors) {
  for (const char* value : {"x", "-1", "1x", " 1", "1.5", "0x1", "+1", "99999999999999999999", "4294967296",
                            "\n", "9223372036854775807", "\xff\x1b[31m", "/2"}) {
    SCOPED_TRACE(value);
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_ARRAY_TASK_ID",
                             "SGE_TASK_ID", "PBS_ARRAY_INDEX", "PBS_ARRAYID", "LSB_JOBINDEX",
                             "AWS_BATCH_JOB_ARRAY_INDEX", "CLOUD_RUN_TASK_INDEX", "JOB_COMPLETION_INDEX"})
      expect_refused("auto/4", {{name, value}}, name);
    expect_refused("auto", Variables{{"SLURM_PROCID", value}} + srun(0, 4), "SLURM_PROCID");
    expect_refused("auto", {{"PMI_RANK", "0"}, {"PMI_SIZE", value}},
                   "PMI_SIZE: expected an index or count, got '");
    for (const char* name : {"SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_COUNT"})
      expect_refused("auto", Variables{{name, value}} + array_task(1, 1, 4, 4), name);
  }
  expect_refused("auto", {{"PMI_RANK", "0"}, {"PMI_SIZE", "0"}}, "PMI_SIZE: expected at least 1, got 0");
  expect_refused("auto", {{"PMI_RANK", "4"}, {"PMI_SIZE", "4"}}, "PMI_RANK: expected 0 to 3, got 4");
  expect_refused("auto", {{"PMI_RANK", "0"}, {"PMI_SIZE", "4294967295"}}, "expected at most 1000000 parts");
  expect_refused("auto", array_task(5, 1, 4, 4), "expected 1 to 4, got 5");
  expect_refused("auto", open_mpi(0, 4, {{"SLURM_ARRAY_TASK_ID", "3"}, {"JOB_COMPLETION_INDEX", "2"}}),
                 "differ");
  EXPECT_EQ(part_of("auto", open_mpi(999, 1000, array_task(1000, 1, 1000, 1000))),
            "1000000/1000000 by SLURM_ARRAY_TASK_ID, OMPI_COMM_WORLD_RANK");
  expect_refused("auto", open_mpi(0, 1001, array_task(1, 1, 1000, 1000)), "expected at most 1000000 parts");
  expect_refused("auto", open_mpi(0, 1000000, array_task(1, 1, 1000000, 1000000)),
                 "expected at most 1000000 parts");
  expect_refused("auto", array_task(1, 0, -1, 0), "SLURM_ARRAY_TASK_MAX");
  expect_refused("auto",
                 Variables{{"SLURM_ARRAY_TASK_MAX", "4294967295"}, {"SLURM_ARRAY_TASK_COUNT", "4294967295"}} +
                     array_task(1, 1, 4, 4),
                 "expected at most 1000000 parts");
}

// ---- all of a job's processes ------------------------------------------------------------------------

// Expects that every part belongs to exactly one process.
void expect_partition(const std::vector<Variables>& processes, const std::string& text = "auto") {
  std::set<int> parts;
  for (const Variables& process : processes) {
    const Shard shard = shard_of(text, process);
    EXPECT_EQ(shard.count, static_cast<int>(processes.size()));
    EXPECT_TRUE(parts.insert(shard.index).second) << shard.index;
  }
}

TEST(Launcher, PartsCoverTheJobOnce) {
  std::vector<Variables> steps_of_tasks;
  std::vector<Variables> from_zero;
  std::vector<Variables> ranks_of_tasks;
  std::vector<Variables> completions;
  for (int task = 0; task < 3; ++task) {
    for (int rank = 0; rank < 4; ++rank) {
      steps_of_tasks.push_back(srun(rank, 4, array_task(task + 1, 1, 3, 3)));
      from_zero.push_back(srun(rank, 4, array_task(task, 0, 2, 3)));
      ranks_of_tasks.push_back(open_mpi(rank, 4, array_task(task + 1, 1, 3, 3)));
      completions.push_back(open_mpi(rank, 4, {{"JOB_COMPLETION_INDEX", std::to_string(task)}}));
    }
  }
  expect_partition(steps_of_tasks);
  expect_partition(steps_of_tasks, "auto/12");
  expect_partition(from_zero);
  expect_partition(ranks_of_tasks);
  expect_partition(completions, "auto/12");
  std::vector<Variables> tasks;
  for (int task = 1; task <= 5; ++task) tasks.push_back(array_task(task, 1, 5, 5));
  expect_partition(tasks);
  // The batch script of an array task is one process, however many tasks its allocation allows.
  for (Variables& task : tasks) task["SLURM_NTASKS"] = "2";
  expect_partition(tasks);
}

TEST(Launcher, ResubmittedArrayTaskWithSteps) {
  EXPECT_EQ(part_of("auto/12", srun(1, 4, array_task(3, 3, 3, 1))),
            part_of("auto", srun(1, 4, array_task(3, 1, 3, 3))));
  expect_refused("auto/3", srun(1, 4, array_task(3, 3, 3, 1)),
                 "SLURM_STEP_NUM_TASKS is 4, but 3 parts is not a multiple of it");
  expect_refused("auto/8", srun(1, 4, array_task(3, 3, 3, 1)), "SLURM_ARRAY_TASK_ID: expected 1 to 2, got 3");
}

TEST(Launcher, TextNamesPartAndVariables) {
  EXPECT_EQ(shard_text(shard_of("3/8", {})), "shard 3 of 8, given; balance hash");
  EXPECT_EQ(shard_text(shard_of("auto", srun(1, 2, array_task(3, 1, 3, 3)))),
            "shard 6 of 6, by SLURM_ARRAY_TASK_ID=3 (1 to 3) and SLURM_PROCID=1 (0 to 1); balance hash");
}

}  // namespace
}  // namespace imgpipe::test::launcher_test
