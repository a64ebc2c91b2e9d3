// Determines a process's shard from the environment variables of its launchers.
#pragma once

#include "app/shard/shard.h"

namespace imgpipe {

// Returns the shard of this process: a rank, a task of an array, or a rank within a task.
//
// The rank, from 0, comes from the first of these that is set. A nested launcher sets its own variables, and
// the outer one's are still set.
//   OMPI_COMM_WORLD_RANK of OMPI_COMM_WORLD_SIZE   mpirun of Open MPI
//   PMIX_RANK                                      prterun, which sets no count
//   PMI_RANK of PMI_SIZE                           mpiexec of MPICH (Hydra) and similar
//   SLURM_PROCID of SLURM_STEP_NUM_TASKS           srun with any --mpi; ignored in batch scripts and
//                                                  salloc's shells, which are not started by srun
// The task of an array comes from:
//   AWS_BATCH_JOB_ARRAY_INDEX of AWS_BATCH_JOB_ARRAY_SIZE, CLOUD_RUN_TASK_INDEX of CLOUD_RUN_TASK_COUNT
//                                                  from 0
//   JOB_COMPLETION_INDEX                           Kubernetes, from 0, without a count
//   SLURM_ARRAY_TASK_ID with _MIN, _MAX, _COUNT · SGE_TASK_ID with _FIRST, _LAST, _STEPSIZE
//                                                  if `count` is 0: from 0 or 1 and without gaps, since
//                                                  others may be a rerun of some tasks of an array
//   PBS_ARRAY_INDEX · PBS_ARRAYID (Torque) · LSB_JOBINDEX (LSF)
//                                                  without a count
// Rank r of R in task a of A is part a * R + r + 1 of A * R.
//
// `count` is the user's number of parts, or 0. If set, arrays of the last five variables have `count` / R
// tasks starting at 1, whatever the scheduler reports, so that a failed task can be rerun alone. The counts
// of other launchers must agree with it. Throws Error(usage) with a message that says what to change if no
// launcher is found or its values are inconsistent.
[[nodiscard]] Shard shard_from_launchers(int count, const Environment& environment);

}  // namespace imgpipe
