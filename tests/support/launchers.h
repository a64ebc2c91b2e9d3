// The environments that launchers give to their processes.
#pragma once

#include <map>
#include <string>

namespace imgpipe::test {

using Variables = std::map<std::string, std::string>;

// For a name in both, the value of `a` wins.
inline Variables operator+(Variables a, const Variables& b) {
  a.insert(b.begin(), b.end());
  return a;
}

// sbatch -n TASKS: the script runs once, on the first node. Slurm versions after 22.05 add SLURM_STEP_ID=-5.
inline Variables batch_script(int tasks) {
  return {{"SLURM_JOB_ID", "70"},
          {"SLURM_NTASKS", std::to_string(tasks)},
          {"SLURM_TASKS_PER_NODE", std::to_string(tasks)},
          {"SLURM_PROCID", "0"},
          {"SLURM_LOCALID", "0"},
          {"SLURM_NODEID", "0"},
          {"SLURM_GTIDS", "0"},
          {"ENVIRONMENT", "BATCH"}};
}

inline Variables array_task(int index, int least, int most, int count, int step = 1) {
  return {{"SLURM_JOB_ID", "71"},
          {"SLURM_ARRAY_JOB_ID", "70"},
          {"SLURM_ARRAY_TASK_ID", std::to_string(index)},
          {"SLURM_ARRAY_TASK_MIN", std::to_string(least)},
          {"SLURM_ARRAY_TASK_MAX", std::to_string(most)},
          {"SLURM_ARRAY_TASK_COUNT", std::to_string(count)},
          {"SLURM_ARRAY_TASK_STEP", std::to_string(step)},
          {"SLURM_PROCID", "0"},
          {"SLURM_GTIDS", "0"}};
}

// srun -n TASKS on one node; its variables override those of the batch script.
inline Variables srun(int rank, int tasks, const Variables& around = {}) {
  std::string ranks = "0";
  for (int i = 1; i < tasks; ++i) ranks += "," + std::to_string(i);
  return Variables{{"SLURM_JOB_ID", "70"},
                   {"SLURM_STEP_ID", "0"},
                   {"SLURM_STEP_NUM_TASKS", std::to_string(tasks)},
                   {"SLURM_STEP_NUM_NODES", "1"},
                   {"SLURM_STEP_TASKS_PER_NODE", std::to_string(tasks)},
                   {"SLURM_NTASKS", std::to_string(tasks)},
                   {"SLURM_TASKS_PER_NODE", std::to_string(tasks)},
                   {"SLURM_PROCID", std::to_string(rank)},
                   {"SLURM_GTIDS", ranks}} +
         around;
}

inline Variables open_mpi(int rank, int ranks, const Variables& around = {}) {
  return Variables{{"OMPI_COMM_WORLD_RANK", std::to_string(rank)},
                   {"OMPI_COMM_WORLD_SIZE", std::to_string(ranks)},
                   {"PMIX_RANK", std::to_string(rank)},
                   {"PMIX_NAMESPACE", "12345"}} +
         around;
}

inline Variables hydra(int rank, int ranks, const Variables& around = {}) {
  return Variables{{"PMI_RANK", std::to_string(rank)},
                   {"PMI_SIZE", std::to_string(ranks)},
                   {"MPI_LOCALRANKID", std::to_string(rank)}} +
         around;
}

inline const Variables kPmix0{{"PMIX_RANK", "0"}, {"PMIX_NAMESPACE", "slurm.pmix.70.0"}};
inline const Variables kPmi0{{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}, {"PMI_JOBID", "70.0"}};

}  // namespace imgpipe::test
