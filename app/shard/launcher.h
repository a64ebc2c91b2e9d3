// Which of how many a process is, by what those that launched it left in its environment.
#pragma once

#include "app/shard/shard.h"

namespace imgpipe {

// The part of a job that is this process's. It may be a rank, a task of an array, or a rank within a task.
//
// A rank, from 0, by the first of these: a launcher within another sets its own variables, and the outer
// one's are still there.
//   OMPI_COMM_WORLD_RANK of OMPI_COMM_WORLD_SIZE   mpirun of Open MPI
//   PMIX_RANK                                      prterun, which names no count
//   PMI_RANK of PMI_SIZE                           mpiexec of MPICH (Hydra) and its like
//   SLURM_PROCID of SLURM_STEP_NUM_TASKS           srun, with any --mpi. In a batch script and in
//                                                  salloc's shell it is there too, but no step
// A task of an array:
//   AWS_BATCH_JOB_ARRAY_INDEX of AWS_BATCH_JOB_ARRAY_SIZE, CLOUD_RUN_TASK_INDEX of CLOUD_RUN_TASK_COUNT
//                                                  from 0
//   JOB_COMPLETION_INDEX                           Kubernetes, from 0, without a count
//   SLURM_ARRAY_TASK_ID with _MIN, _MAX, _COUNT · SGE_TASK_ID with _FIRST, _LAST, _STEPSIZE
//                                                  from 0 or 1 and without gaps, where `count` is 0: any
//                                                  other may be some tasks of an earlier array, done again
//   PBS_ARRAY_INDEX · PBS_ARRAYID (Torque) · LSB_JOBINDEX (LSF)
//                                                  without a count
// Rank r of R in task a of A is part a * R + r + 1 of A * R.
//
// `count`: of all parts, by the user, or 0. With it an array of the last five begins at 1 and counts `count`
// / R tasks, whatever the scheduler says, so that a task that failed can be done again by itself; what the
// other launchers say must agree with it. Throws Error(usage) that says what to change, where there is no
// launcher or what it says makes no part.
[[nodiscard]] Shard shard_of_launchers(int count, const Environment& environment);

}  // namespace imgpipe
