#!/usr/bin/env bash
# Runs examples/cluster/slurm.sh and array.sbatch with a Slurm started on this machine: the cases of cluster_cases.sh, a
# killed and requeued task, some tasks of the array again.
#
#   tests/peers/cluster_slurm.sh [--install] [--keep FOLDER] IMGPIPE
#
# As root. --install installs Slurm and MUNGE (Debian, Ubuntu). Exits with 77 if they are missing. The daemons write to
# a temporary directory and are ended by their process ids. --keep leaves all files in FOLDER.
set -euo pipefail
. "$(dirname "$0")/cluster_cases.sh"
. "$(dirname "$0")/slurm_node.sh"
engine=Slurm
files=(slurm.sh array.sbatch)
begin "$@"
((!install)) || install_peers slurm-wlm munge
need munged slurmctld slurmd sbatch
[ "$(id -u)" = 0 ] || { echo "SKIPPED: slurmd must run as root"; exit 77; }
engine_line() { slurmd -V; }
stop_engine() { stop_slurm; }
run_example() { timeout 120 ./slurm.sh --mem=1G --time=5; }

mkdir "$work/slurm"
write_slurm_conf "$work/slurm" linuxproc none 8
start_slurm "$work/slurm"
run_cases

# The array without slurm.sh: first two of its eight tasks, then all. Slurm requeues a task while it works.
job_ends() { [ -z "$(squeue -h -j "$1" 2>/dev/null)" ]; }
submit() { # FOLDER SBATCH_OPTION...: the job's number
  local folder=$1
  shift
  (cd "$folder" && sbatch --parsable --mem=1G --time=5 "$@" array.sbatch)
}
folder=$(new_case some_tasks)
job=$(submit "$folder" --array=2,5)
wait_for 60 job_ends "$job"
expect 'two tasks of the array, their reports' 'reports/2-of-8.ndjson reports/5-of-8.ndjson' \
  "$(cd "$folder" && echo reports/*)"
expect 'two tasks of the array, exit status of the sum' 1 "$(sums "$folder")"
job=$(submit "$folder")
wait_for 60 job_ends "$job"
expect 'then all, exit status of the sum' 0 "$(sums "$folder")"
expect 'then all, images done twice' 0 "$(done_twice "$folder")"

folder=$(new_case requeued)
read -r count shard < <(largest_shard)
sed -i 's/ --quiet / --quiet --jobs 1 --png-level 9 /' "$folder/array.sbatch"  # slower
job=$(submit "$folder" "--array=$shard")
some_done() {
  local count
  count=$(grep -c '"status":"done"' "$folder/reports/$shard-of-8.ndjson")
  ((${count:-0} >= 2))
}
wait_for 30 some_done 2>/dev/null
scontrol requeue "${job}_$shard"
wait_for 90 job_ends "$job"
expect 'requeued, runs of the task' 2 \
  "$(grep -o '"date":"[^"]*"' "$folder/reports/$shard-of-8.ndjson" | sort -u | wc -l)"
expect 'requeued, images done twice' 0 "$(done_twice "$folder")"
sums "$folder" >/dev/null # the other shards have not run
expect 'requeued, all images of the task are done' "$count" "$(sum_of "$folder" 'done')"
((!failed)) || { say "cluster_slurm.sh: $failed checks failed"; exit 1; }
