# The cases of slurm.sh, written like a user's job scripts.

all='60 of 60, 0 twice'
none='0 of 60, 0 twice'
four="1/4 2/4 3/4 4/4: $all"

shard_cases() {
  local batch=$work/batch
  make_images "$work/in" 60 120x90
  learn_parts
  write_task
  try 'sbatch --array=1-4' "$four" "$batch --array=1-4 'TASK'"
  try 'sbatch --array=1-4, srun' "$four" "$batch --array=1-4 'srun TASK'"
  try 'srun -n 4' "$four" "srun -n 4 TASK"
  try 'sbatch -n 4, srun' "$four" "$batch -n 4 'srun TASK'"
  try 'sbatch -n 4, srun -n 2' "1/2 2/2: $all" "$batch -n 4 'srun -n 2 TASK'"
  try 'sbatch -n 4, no srun' "refused: $none" "$batch -n 4 'TASK'"
  try 'sbatch --ntasks-per-node=4, no srun' "refused: $none" "$batch -N 1 --ntasks-per-node=4 'TASK'"
  try 'salloc -n 4, no srun' "refused: $none" "salloc -Q -n 4 TASK"
  try 'sbatch -n 4, no srun, 2/4 named' "2/4: $(part_size 2/4) of 60, 0 twice" "$batch -n 4 'TASK(2/4)'"
  try 'sbatch --array=1-2 -n 2, srun' "$four" "$batch --array=1-2 -n 2 'srun TASK'"
  try 'sbatch --array=1-2 -n 2, no srun' "1/2 2/2: $all" "$batch --array=1-2 -n 2 'TASK'"
  pmi_cases
  if command -v mpirun.openmpi >/dev/null; then
    mpi_cases mpirun 'mpirun.openmpi --oversubscribe'
  else
    skipped 'mpirun' "no mpirun.openmpi"
  fi
  if command -v mpiexec.hydra >/dev/null; then
    mpi_cases 'mpiexec of MPICH' mpiexec.hydra
  else
    skipped 'mpiexec of MPICH' "no mpiexec.hydra"
  fi
  nested_cases
  array_cases
  stale_cases
  said_case
  one_report_case
}

# Every task that did a part must have reported it on stderr, even with -q.
said_case() {
  local code label tasks=0 said=0
  for code in "$work"/cases/*/task.*.exit; do
    [ "$(cat "$code")" = 0 ] || continue
    tasks=$((tasks + 1))
    label=$(label_of "${code%.exit}")
    ! grep -qE "shard ${label/\// of }([^0-9]|$)" "${code%.exit}.err" || said=$((said + 1))
  done
  row 'the tasks say which part they do' "$tasks of $tasks" "$said of $tasks"
}

# srun as MPI's launcher: its tasks have an MPI rank in addition to srun's.
pmi_cases() {
  local name
  for name in pmi2 pmix; do
    if srun --mpi=$name true 2>/dev/null; then
      try "srun -n 4 --mpi=$name" "$four" "srun -n 4 --mpi=$name TASK"
      try "sbatch --array=1-2 -n 2, srun --mpi=$name" "$four" "$batch --array=1-2 -n 2 'srun --mpi=$name TASK'"
    else
      skipped "srun --mpi=$name" "srun cannot start it"
    fi
  done
}

mpi_cases() { # NAME LAUNCHER
  try "sbatch -n 4, $1" "$four" "$batch -n 4 '$2 -n 4 TASK'"
  try "salloc -n 4, $1" "$four" "salloc -Q -n 4 $2 -n 4 TASK"
  try "sbatch --array=1-2 -n 2, $1" "$four" "$batch --array=1-2 -n 2 '$2 -n 2 TASK'"
  try "$1 -n 4" "$four" "$2 -n 4 TASK"
}

# A launcher in a step of another, whose rank is visible too.
nested_cases() {
  local inside='salloc -Q -n 4 srun --interactive --preserve-env'
  try 'interactive step, srun' "$four" "$inside srun TASK"
  ! command -v mpirun.openmpi >/dev/null || try 'interactive step, mpirun' "$four" "$inside mpirun.openmpi -n 4 TASK"
  if command -v mpirun.openmpi >/dev/null && srun --mpi=pmix true 2>/dev/null; then
    try 'mpirun in srun -n 1 --mpi=pmix' "$four" "srun -n 1 --mpi=pmix mpirun.openmpi --oversubscribe -n 4 TASK"
  fi
  if command -v mpiexec.hydra >/dev/null && srun --mpi=pmi2 true 2>/dev/null; then
    try 'mpiexec of MPICH in srun -n 1 --mpi=pmi2' "$four" "srun -n 1 --mpi=pmi2 mpiexec.hydra -launcher fork -n 4 TASK"
  fi
}

# Arrays that are not 1 to N, whose tasks may belong to a larger array, and repeated tasks of an array.
array_cases() {
  local third
  third="3/4: $(part_size 3/4) of 60, 0 twice"
  try '--array=3, auto/4 (one task again)' "$third" "$batch --array=3 'TASK(auto/4)'"
  try '--array=3, srun, auto/4' "$third" "$batch --array=3 'srun TASK(auto/4)'"
  try '--array=2 -n 2, srun, auto/4' "3/4 4/4: $(part_size 3/4 4/4) of 60, 0 twice" \
    "$batch --array=2 -n 2 'srun TASK(auto/4)'"
  try '--array=3, auto' "refused: $none" "$batch --array=3 'TASK'"
  try '--array=5, auto/4' "refused: $none" "$batch --array=5 'TASK(auto/4)'"
  try '--array=1,3, auto/4 (two tasks again)' "1/4 3/4: $(part_size 1/4 3/4) of 60, 0 twice" \
    "$batch --array=1,3 'TASK(auto/4)'"
  try '--array=1,3, auto' "refused refused: $none" "$batch --array=1,3 'TASK'"
  try '--array=0-3, auto' "$four" "$batch --array=0-3 'TASK'"
  try '--array=0-3, auto/4' "1/4 2/4 3/4 refused: $(part_size 1/4 2/4 3/4) of 60, 0 twice" \
    "$batch --array=0-3 'TASK(auto/4)'"
  try '--array=2-8:2, auto' "refused refused refused refused: $none" "$batch --array=2-8:2 'TASK'"
}

# sbatch passes on the variables of the submitting shell. If these belong to a step, they are not the job's.
stale_cases() {
  try 'sbatch -n 4, no srun, from a step of one' "refused: $none" "srun -n 1 --overlap $batch -n 4 'TASK'"
  try 'sbatch -n 4, no srun, from a step of four' "refused: $none" \
    "srun -n 4 bash -c '[ \$SLURM_PROCID != 2 ] || exec $batch -n 4 \"TASK\"'"
  try 'sbatch --array=1-4, from a step of four' "$four" \
    "srun -n 4 bash -c '[ \$SLURM_PROCID != 2 ] || exec $batch --array=1-4 \"TASK\"'"
  try 'salloc -n 4, no srun, interactive step' "refused: $none" "salloc -Q -n 4 srun --interactive --preserve-env TASK"
}

# All tasks of a step name one .ndjson file: it has each image's line, complete and once.
one_report_case() {
  local folder whole torn
  folder=$(new_case 'one report')
  srun -n 4 "$imgpipe" "$work/in" "$folder/out" --recursive --shard auto -q --report "$folder/all.ndjson" \
    >"$folder/messages.txt" 2>&1 || true
  whole=$(done_of "$folder/all.ndjson" | uniq | wc -l)
  torn=$(($(wc -l <"$folder/all.ndjson") - whole))
  row 'srun -n 4, one .ndjson for all' '60 whole lines, 0 others' "$whole whole lines, $torn others"
}

# Two tasks of an array are killed midway and requeued; then they must do the rest.
requeue_cases() {
  make_images "$work/slow-in" 60 1600x1000  # a second or two per task
  "$imgpipe" "$work/slow-in" "$work/slow-whole" --recursive -q
  requeue 'scontrol requeue, --skip-existing' requeue_by_slurm
  requeue 'kill -9 and scontrol requeue, --skip-existing' requeue_killed
}
requeue_by_slurm() { scontrol requeue "$1"; }
requeue_killed() {
  kill -9 "$(cat "$2.pid")"
  scontrol requeue "$1"
}

# requeue NAME HOW
requeue() {
  local folder job task before kept=yes cut=0 twice codes same
  folder=$(new_case "$1")
  cat >"$folder/job" <<END_OF_JOB
#!/usr/bin/env bash
task=$folder/\$SLURM_ARRAY_TASK_ID
env | grep -E '^SLURM' | sort >"\$task.env.\${SLURM_RESTART_COUNT:-0}"
"$imgpipe" "$work/slow-in" "$folder/out" --recursive --shard auto --skip-existing --jobs 1 --threads 1 -q \
  --report "\$task.ndjson" 2>>"\$task.err" &
echo \$! >"\$task.pid"
wait \$!
echo \$? >"\$task.exit"
END_OF_JOB
  job=$(cd "$folder" && sbatch --parsable --requeue --array=1-2 -o job-%a.txt --open-mode=append job)
  for task in 1 2; do
    wait_for 20 some_lines "$folder/$task.ndjson" || true
    done_of "$folder/$task.ndjson" >"$folder/$task.before"
    grep -a '}$' "$folder/$task.ndjson" >"$folder/$task.lines" || true
    "$2" "${job}_$task" "$folder/$task"
  done
  wait_for 60 no_job "$job" || true
  for task in 1 2; do
    before=$(wc -l <"$folder/$task.before")
    [ ! -e "$folder/$task.env.1" ] || ((before == 0 || before > 25)) || cut=$((cut + 1))
    head -c "$(wc -c <"$folder/$task.lines")" "$folder/$task.ndjson" | cmp -s - "$folder/$task.lines" || kept=no
  done
  twice=$(cat "$folder"/?.ndjson | done_of /dev/stdin | uniq -d | wc -l)
  codes=$(cat "$folder"/?.exit | paste -sd' ')
  same=$(same_as "$work/slow-whole" "$folder/out")
  row "$1" "2 cut off, then exit 0 0: $all; earlier lines kept: yes" \
    "$cut cut off, then exit $codes: $same of 60, $twice twice; earlier lines kept: $kept"
}
some_lines() { [ -e "$1" ] && (($(wc -l <"$1") >= 3)); }
no_job() { [ -z "$(squeue -h -j "$1" 2>/dev/null)" ]; }

# Jobs of 200 MB with twelve images of which one or two fit at a time, and one image that never fits. The latter must be
# rejected with a line, and no process killed. A job of 2 GB does all, so it is the limit that rejects.
memory_cases() { # NAME: what keeps the limit
  [ -d "$work/few" ] || make_memory_images
  try_memory "sbatch --mem=200M, $1" "$huge_refused" "$work/batch --mem=200M 'MEMORY huge'"
  try_memory "sbatch --mem-per-cpu=200M, $1" "$huge_refused" "$work/batch --mem-per-cpu=200M 'MEMORY huge'"
  try_memory "sbatch --mem=200M, srun, $1" "$huge_refused" "$work/batch --mem=200M 'srun MEMORY huge'"
  try_memory "sbatch --mem=2G, $1" '13 of 13; exit 0, 0 refused for memory' "$work/batch --mem=2G 'MEMORY huge'"
}
huge_refused='12 of 13; exit 1, 1 refused for memory'

make_memory_images() {
  local i
  mkdir "$work/few" "$work/huge" "$work/whole-memory"
  for ((i = 0; i < 12; i++)); do "$imgpipe" synth "$work/few/$i.png" --pattern constant:$i --size 4000x3000 -q; done
  ln "$work/few"/* "$work/huge"
  # WebP is decoded as a whole, whereas a PNG of any height is decoded in bands.
  "$imgpipe" synth "$work/huge/huge.webp" --pattern constant:7 --size 6000x4000 -q
  "$imgpipe" "$work/huge" "$work/whole-memory" -q --jobs 1
  cat >"$work/memory_task" <<END_OF_TASK
#!/usr/bin/env bash
env | grep -E '^SLURM' | sort >"\$1/task.env"
cat /proc/self/cgroup >"\$1/task.cgroup"
code=0
"$imgpipe" "$work/\$2" "\$1/out" -q --jobs 8 2>"\$1/task.err" || code=\$?
echo "\$code" >"\$1/task.exit"
END_OF_TASK
  chmod +x "$work/memory_task"
}

# try_memory NAME EXPECTED COMMAND: MEMORY stands for the task, whose argument is the directory of its images.
try_memory() {
  local folder code refused
  folder=$(new_case "$1")
  (cd "$folder" && eval "timeout 120 ${3//MEMORY/$work/memory_task $folder}" >messages.txt 2>&1) || true
  code=$(cat "$folder/task.exit" 2>/dev/null || echo none)
  refused=$(grep -c memory "$folder/task.err" || true)
  row "$1" "$2" "$(same_as "$work/whole-memory" "$folder/out") of 13; exit $code, $refused refused for memory" \
    "$(head -1 "$folder/task.err")"
}

# The same if Slurm enforces the limits by control groups: proctrack/cgroup and task/cgroup.
group_cases() {
  local name='control groups' folder=$work/slurm-groups others
  write_slurm_conf "$folder" cgroup cgroup 8
  write_cgroup_conf "$folder"
  others=$(slurm_groups)
  if [ -n "$others" ]; then
    skipped "$name" "there are groups of another slurmd: $(head -1 <<<"$others")"
    return
  fi
  groups_are_ours=1
  if ! start_slurm "$folder"; then
    skipped "$name" "slurmd does not start: $(grep -h -m1 -i cgroup "$folder/slurmd.log" || true)"
  elif srun --mem=200M sh -c 'head -c 300M /dev/zero | tail -c 300M >/dev/null' 2>/dev/null; then
    skipped "$name" 'a process in a job of 200 MB may take 300 MB here'
  else
    memory_cases "$name"
    # srun does not pass its own --mem to its tasks: without groups no process can detect it.
    try_memory "srun --mem=200M, $name" "$huge_refused" "srun --mem=200M MEMORY huge"
    try_memory "sbatch --mem=2G, srun --mem=200M, $name" "$huge_refused" \
      "$work/batch --mem=2G 'srun --mem=200M MEMORY huge'"
    # After writing a file, a job's page cache fills as much memory as the job may have.
    try_memory "sbatch --mem=400M, full of page cache, $name" '12 of 13; exit 0, 0 refused for memory' \
      "$work/batch --mem=400M 'head -c 600M /dev/zero >$work/written; sync $work/written; MEMORY few'"
  fi
  stop_slurm
}
groups_are_ours=0
remove_groups() { ((!groups_are_ours)) || slurm_groups | sort -r | xargs -r -d '\n' rmdir; }
# The directories of slurmd and its jobs below the mounts of control groups.
slurm_groups() { find /sys/fs/cgroup -type d -path '*slurm*' 2>/dev/null || true; }
