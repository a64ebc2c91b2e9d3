#!/usr/bin/env bash
# Tests `--shard auto` with real launchers: a Slurm started on this machine, Open MPI and MPICH, alone and nested; and
# the memory limits of Slurm jobs.
#
#   tests/peers/slurm.sh [--install] [--only shards|requeue|memory] [--keep FOLDER] IMGPIPE
#
# As root, in two minutes. Arrays, srun, sbatch without srun, mpirun inside and outside Slurm run the program on 60
# small images; jobs are killed midway and requeued; jobs of 200 MB get images that need more, with and without control
# groups. Prints a Markdown table: for each case the expected and actual parts of its tasks (3/4: exactly the images of
# `--shard 3/4`; refused: exit 2 with one line), the number of outputs equal to an undisturbed run's, the number of
# outputs made twice, and the first task's line on stderr. Cases that cannot run here are listed as skipped, with the
# reason. Exit 1 if a case failed. --install installs Slurm, MUNGE, Open MPI, MPICH and PMIx (Debian, Ubuntu). --keep
# leaves each case's environments, messages and reports and the daemons' logs in FOLDER. All else is in a temporary
# directory; only daemons started here are ended. Control groups are tested if Slurm finds them; only version 1 of them
# has been seen to work.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/install_peers.sh"
. "$here/slurm_node.sh"
. "$here/slurm_cases.sh"
install=0
only=
keep=
while [[ ${1:-} == --* ]]; do
  case $1 in
    --install) install=1 ;;
    --only) only=$2 && shift ;;
    --keep) mkdir -p "$2" && keep=$(realpath "$2") && shift ;;
    *) sed -n '2,16s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
  esac
  shift
done
case $only in '' | shards | requeue | memory) ;; *) say "slurm.sh: --only shards, requeue or memory" && exit 2 ;; esac
imgpipe=$(realpath "${1:?slurm.sh: name the imgpipe program}")
((!install)) || install_peers slurm-wlm munge openmpi-bin mpich libpmix-dev
[ "$(id -u)" = 0 ] || { say "slurm.sh: slurmd must run as root"; exit 1; }
for program in munged slurmctld slurmd srun; do
  command -v "$program" >/dev/null || { say "slurm.sh: no $program: try --install"; exit 1; }
done
# Only the launchers may give variables to our jobs.
for name in $(compgen -e | grep -E '^(SLURM|SBATCH|SALLOC|OMPI|PMI|HYDRA|MPI)' || true); do unset "$name"; done
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

work=$(mktemp -d)
finish() {
  set +e
  stop_slurm
  remove_groups
  if [ -n "$keep" ]; then
    rm -rf "$work"/cases/*/out
    cp -r "$work/cases/." "$keep"
    (cd "$work" && cp --parents slurm-*/*.log "$keep")
  fi
  rm -rf "$work"
}
trap finish EXIT
mkdir "$work/cases" "$work/parts"

# make_images FOLDER COUNT SIZE
make_images() {
  local i folders=(. north 'south west' north/deep) endings=(png jpg ppm)
  mkdir -p "$1/north/deep" "$1/south west"
  for ((i = 0; i < $2; i++)); do echo "$i '${folders[i % 4]}/image $i.${endings[i % 3]}'"; done |
    xargs -P "$(nproc)" -L 1 sh -c '"$0" synth "$1/$4" --pattern photo --size "$2" --seed "$3" -q' "$imgpipe" "$1" "$3"
}

# done_of FILE.ndjson: prints the inputs that a run reports as done, sorted.
done_of() { sed -n 's/^{[^{}]*"input":"\([^"]*\)"[^{}]*"status":"done"[^{}]*}$/\1/p' "$1" | sort; }

# Maps the hash of a part's list of inputs to the part, as determined by runs with `--shard I/N`.
declare -A part_of
learn_parts() {
  local count part
  for count in 1 2 4; do
    for ((part = 1; part <= count; part++)); do
      "$imgpipe" "$work/in" "$work/parts/out-$part-$count" --recursive --shard "$part/$count" -q \
        --report "$work/parts/$part-$count.ndjson"
      part_of[$(done_of "$work/parts/$part-$count.ndjson" | md5sum)]=$part/$count
    done
  done
  mv "$work/parts/out-1-1" "$work/whole"
}

# part_size PART...: prints the number of images in those parts.
part_size() {
  local part sum=0
  for part in "$@"; do sum=$((sum + $(done_of "$work/parts/${part/\//-}.ndjson" | wc -l))); done
  echo "$sum"
}

# Writes the task for the launchers: task CASE_FOLDER SHARD. It always succeeds, because mpirun ends all other tasks
# after a failure.
write_task() {
  cat >"$work/task" <<END_OF_TASK
#!/usr/bin/env bash
id=\$(mktemp "\$1/task.XXXXXX")
env | grep -E '^(SLURM|OMPI|PMI|HYDRA|MPI)' | sort >"\$id.env"
code=0
"$imgpipe" "$work/in" "\$1/out" --recursive --shard "\$2" -q --report "\$id.ndjson" 2>"\$id.err" || code=\$?
echo "\$code" >"\$id.exit"
END_OF_TASK
  chmod +x "$work/task"
}

# label_of TASK: prints the part that a task did, or how it ended: "refused" is exit 2 with a one-line reason.
label_of() {
  local code
  code=$(cat "$1.exit" 2>/dev/null || echo none)
  if [ "$code" = 0 ]; then
    echo "${part_of[$(done_of "$1.ndjson" | md5sum)]:-other}"
  elif [ "$code" = 2 ] && [ "$(wc -l <"$1.err")" = 1 ]; then
    echo refused
  else
    echo "exit $code"
  fi
}

# same_as WHOLE OUT: prints the number of files of OUT equal to those in WHOLE; "N (M more)" if there are others.
same_as() {
  local same=0 other=0 file
  while IFS= read -r -d '' file; do
    if cmp -s "$2/$file" "$1/$file"; then same=$((same + 1)); else other=$((other + 1)); fi
  done < <(cd "$2" 2>/dev/null && find . -type f -print0)
  echo "$same$( ((!other)) || echo " ($other more)")"
}

# found_in CASE_FOLDER: prints the outcome of a case.
found_in() {
  local task labels twice
  labels=$(for task in "$1"/task.??????; do label_of "$task"; done | sort | paste -sd' ')
  twice=$(cat "$1"/task.*.ndjson 2>/dev/null | done_of /dev/stdin | uniq -d | wc -l)
  echo "$labels: $(same_as "$work/whole" "$1/out") of 60, $twice twice"
}

failed=0
rows=()
# row NAME EXPECTED FOUND [SAYS]
row() {
  local verdict=ok
  [ "$2" = "$3" ] || { verdict=FAILED && failed=$((failed + 1)); }
  local says=${4:-}
  says=${says//"$work/"/}
  rows+=("| $1 | $2 | $3 | $verdict | ${says//|/\\|} |")
  say "$verdict: $1: $3"
}
skipped() {
  rows+=("| $1 | | | skipped: $2 | |")
  say "skipped: $1: $2"
}
new_case() { # NAME: makes a directory, and prints it
  local folder=$work/cases/${1//[^A-Za-z0-9=,-]/_}
  mkdir "$folder"
  echo "$folder"
}
# try NAME EXPECTED COMMAND: TASK in the command is the task with `--shard auto`, TASK(auto/4) with that shard.
try() {
  local folder command
  folder=$(new_case "$1")
  command=$(sed -E "s#TASK\(([^)]*)\)#$work/task $folder \1#g; s#TASK#$work/task $folder auto#g" <<<"$3")
  (cd "$folder" && eval "timeout 60 $command" >messages.txt 2>&1) || true
  row "$1" "$2" "$(found_in "$folder")" "$(cat "$folder"/task.*.err 2>/dev/null | head -1)"
}
# batch OPTION... BODY: submits a job, and waits until none of its tasks is left.
write_batch() {
  cat >"$work/batch" <<'END_OF_BATCH'
#!/usr/bin/env bash
set -euo pipefail
job=$(sbatch --parsable -o job-%A-%a.txt "${@:1:$#-1}" --wrap "${@: -1}")
while [ -n "$(squeue -h -j "$job" 2>/dev/null)" ]; do sleep 0.2; done
END_OF_BATCH
  chmod +x "$work/batch"
}

wanted() { [ -z "$only" ] || [ "$only" = "$1" ]; }

write_batch
mkdir "$work/slurm-plain" "$work/slurm-groups"
write_slurm_conf "$work/slurm-plain" linuxproc none 8
start_slurm "$work/slurm-plain"
if wanted shards; then shard_cases; fi
if wanted requeue; then requeue_cases; fi
if wanted memory; then memory_cases 'no control groups'; fi
stop_slurm
if wanted memory; then group_cases; fi

version() { "$@" 2>/dev/null | grep -o '[0-9][0-9.]*' | head -1; }
echo "Slurm $(version slurmd -V), Open MPI $(version mpirun.openmpi --version), MPICH $(version mpichversion)," \
  "$(nproc) processors, $(date -u +%F)"
echo
echo "| case | expected | found | | the first task's line |"
echo "|---|---|---|---|---|"
printf '%s\n' "${rows[@]}"
((!failed)) || { say "slurm.sh: $failed of ${#rows[@]} cases failed"; exit 1; }
